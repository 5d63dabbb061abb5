package timeline

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// scale maps an interval of time to a drawing's width, 0 to 100 per cent: a drawing
// fills a phone and a wide screen alike, and the text in it keeps its size.
type scale struct{ from, to time.Time }

// add widens the scale to hold t; times that are not on record are none.
func (s *scale) add(times ...time.Time) {
	for _, t := range times {
		switch {
		case t.IsZero():
			continue
		case s.from.IsZero():
			s.from, s.to = t, t
		case t.Before(s.from):
			s.from = t
		case t.After(s.to):
			s.to = t
		}
	}
}

// settle gives a scale without length one: a millisecond shows where its one instant is.
func (s *scale) settle() {
	if !s.to.After(s.from) {
		s.to = s.from.Add(time.Millisecond)
	}
}

func (s *scale) at(t time.Time) percent {
	return percent(min(max(float64(t.Sub(s.from))/float64(s.to.Sub(s.from)), 0), 1) * 100)
}

// percent is a length as SVG has it.
type percent float64

func (p percent) String() string {
	return strconv.FormatFloat(math.Round(float64(p)*1000)/1000, 'f', -1, 64) + "%"
}

type tick struct {
	X     percent
	Label string
}

// steps are the distances of ticks that people count in.
var steps = func() (list []time.Duration) {
	for power := time.Microsecond; power < time.Second; power *= 10 {
		list = append(list, power, 2*power, 5*power)
	}
	for _, s := range []int{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400} {
		list = append(list, time.Duration(s)*time.Second)
	}
	return list
}()

// ticks are at most five or six round times since the scale's begin.
func (s *scale) ticks() (list []tick) {
	const most = 5
	length := s.to.Sub(s.from)
	step := steps[len(steps)-1]
	for _, candidate := range steps {
		if length/candidate <= most {
			step = candidate
			break
		}
	}
	for length/step > most {
		step *= 2 // days
	}
	for away := time.Duration(0); away <= length; away += step {
		list = append(list, tick{s.at(s.from.Add(away)), span(away)})
		if away > math.MaxInt64-step {
			break
		}
	}
	return list
}

// span writes a stretch of time in the largest unit that it is a whole or short decimal
// number of: "1.5 s", "2 min 30 s", "3 h", "2 d".
func span(d time.Duration) string {
	const day = 24 * time.Hour
	pair := func(big time.Duration, one string, small time.Duration, two string) string {
		text := fmt.Sprintf("%d %s", d/big, one)
		if rest := d % big / small; rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, two)
		}
		return text
	}
	switch {
	case d >= day:
		return pair(day, "d", time.Hour, "h")
	case d >= time.Hour:
		return pair(time.Hour, "h", time.Minute, "min")
	case d >= time.Minute:
		return pair(time.Minute, "min", time.Second, "s")
	case d >= time.Second || d == 0:
		return short(d.Seconds()) + " s"
	case d >= time.Millisecond:
		return short(float64(d)/float64(time.Millisecond)) + " ms"
	default:
		return short(float64(d)/float64(time.Microsecond)) + " µs"
	}
}

// short keeps three digits.
func short(x float64) string {
	power := math.Pow(10, 2-math.Floor(math.Log10(max(x, 1e-9))))
	return strconv.FormatFloat(math.Round(x*power)/power, 'f', -1, 64)
}
