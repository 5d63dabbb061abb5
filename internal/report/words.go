package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Words that are said in more than one place.
const (
	program  = "fifoproof"
	virtual  = "virtual" // the clock of an endpoint whose time is moved by hand
	fence    = "fence"
	noAnswer = "no answer"
)

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", count(n), noun)
}

// count writes n with its thousands apart: "3,104".
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Duration writes d as people read it: "5 min 30 s", "0.8 s".
func Duration(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}

// span writes a short stretch of time in the unit that fits it: "1 ns", "2.5 ms",
// "1.99 s". Three digits tell enough beside a drawing.
func span(s float64) string {
	s = math.Abs(s)
	for _, unit := range []struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if s >= unit.size*0.9995 {
			return strconv.FormatFloat(round3(s/unit.size), 'f', -1, 64) + " " + unit.name
		}
	}
	return strconv.FormatFloat(round3(s/1e-9), 'f', -1, 64) + " ns"
}

// round3 keeps three significant digits.
func round3(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// instant writes a time since a case's start with its decimals in groups of three:
// "300.012 s". A time on a virtual clock that needs nine decimals gets them.
func instant(s float64) string { return decimals(s, digitsOf(s)) + " s" }

// digitsOf is how many decimals s needs, in steps of three: three unless it lies a
// whole number of micro- or nanoseconds beside a whole second, as only the instants
// of a virtual clock do.
func digitsOf(s float64) int {
	// Half a nanosecond is less than a clock can tell, and more than a float64 loses
	// in the hours that a run can take.
	const nano, micro, milli = 0.5e-9, 1e-6 - 0.5e-9, 1e-3 - 0.5e-9
	away := math.Abs(s - math.Round(s))
	switch {
	case away < nano || away >= milli:
		return 3
	case away >= micro:
		return 6
	default:
		return 9
	}
}

// decimals writes s with so many decimals, in groups of three.
func decimals(s float64, digits int) string {
	text := strconv.FormatFloat(s, 'f', digits, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := 3; i < len(fraction); i += 4 {
		fraction = fraction[:i] + " " + fraction[i:]
	}
	return whole + "." + fraction
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// shorten keeps of a long id what tells it from others.
func shorten(id string) string {
	const shown = 16
	for i := range id {
		if i >= shown {
			return id[:i] + "…"
		}
	}
	return id
}

// wrap breaks text into lines of at most width runes behind indent.
func wrap(text string, width int, indent string) string {
	var lines []string
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len([]rune(line))+1+len([]rune(word)) > width && line != indent {
			lines = append(lines, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
