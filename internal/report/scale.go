package report

import (
	"math"
	"strconv"
)

// scale maps an interval of time to a drawing's width, 0 to 100 per cent. Drawings are
// laid out in per cent across and in pixels down: they fill a phone and a wide screen
// alike, and the text in them keeps its size.
type scale struct{ from, to float64 }

// at is where t lies, beyond 0 and 100 for what is outside.
func (s scale) at(t float64) float64 { return (t - s.from) / (s.to - s.from) * 100 }

// clip is where [from, to] lies, cut to the drawing; ok says whether any of it does.
func (s scale) clip(from, to float64) (x, width float64, ok bool) {
	a, b := s.at(from), s.at(to)
	if b < 0 || a > 100 {
		return 0, 0, false
	}
	a, b = max(a, 0), min(b, 100)
	return a, b - a, true
}

// bar is clip for something that must be seen: where SVG gives a width of zero nothing
// is drawn, not even the outline that makes a short bar visible.
func (s scale) bar(from, to float64) (x, width float64, ok bool) {
	const thin = 0.01
	x, width, ok = s.clip(from, to)
	return x, max(width, thin), ok
}

// percent is a length as SVG has it.
type percent float64

func (p percent) String() string {
	return strconv.FormatFloat(math.Round(float64(p)*1000)/1000, 'f', -1, 64) + "%"
}

// axisTick is a mark of an axis.
type axisTick struct {
	X     percent
	Label string
}

// ticks are at most most round values in the scale, counted from origin. say writes
// the distance from it.
func (s scale) ticks(origin float64, most int, say func(away, step float64) string) []axisTick {
	step := roundStep((s.to - s.from) / float64(most))
	var out []axisTick
	first := math.Ceil((s.from-origin)/step - 1e-9)
	for i := range 2 * most { // bounded, since so far out that steps get lost in rounding no tick helps
		away := (first + float64(i)) * step
		if x := s.at(origin + away); x >= -0.001 && x <= 100.001 {
			out = append(out, axisTick{percent(x), say(away, step)})
		}
	}
	return out
}

// roundStep is the smallest round step that is not less than raw: 1, 2 and 5 with
// powers of ten, and from a quarter of a minute on what a clock's face has.
func roundStep(raw float64) float64 {
	for _, s := range []float64{10, 15, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400} {
		if raw > 5 && raw <= s {
			return s
		}
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// sinceStart writes a tick of the main axis: seconds, or what is smaller where the
// whole drawing is.
func sinceStart(t, step float64) string {
	if step >= 1 || t == 0 {
		return strconv.FormatFloat(math.Round(t), 'f', -1, 64) + " s"
	}
	if step >= 0.1 {
		return strconv.FormatFloat(t, 'f', 1, 64) + " s"
	}
	return span(t)
}

// aside writes a tick of a zoomed axis: the distance from what it is zoomed on.
func aside(origin string) func(away, step float64) string {
	return func(away, step float64) string {
		switch {
		case math.Abs(away) < step/2:
			return origin
		case away < 0:
			return "−" + span(away)
		default:
			return "+" + span(away)
		}
	}
}
