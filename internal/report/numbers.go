package report

import (
	"strconv"
	"strings"
)

// numbers are the numbers beside the events of one row. Where two would touch on a
// phone they are written as one.
type numbers struct{ list []*number }

// number is the label of one event, or of several that lie close together.
type number struct {
	x1, x2 float64
	to     float64 // where the text ends, in per cent of a phone's width
	values []string
}

func (n *numbers) add(x float64, value int) { n.addText(x, strconv.Itoa(value)) }

func (n *numbers) addText(x float64, text string) {
	if len(n.list) > 0 {
		if last := n.list[len(n.list)-1]; x-half(text) < last.to {
			last.x1, last.x2 = min(last.x1, x), max(last.x2, x)
			last.values = append(last.values, text)
			last.to = max((last.x1+last.x2)/2+half(last.text()), x+half(text))
			return
		}
	}
	n.list = append(n.list, &number{x, x, x + half(text), []string{text}})
}

// half is half of what a text takes, in per cent of a drawing that is 280 pixels wide,
// with half a letter of air.
func half(text string) float64 {
	const letter = 2.3
	return letter * float64(len([]rune(text))+1) / 2
}

// text names the values: "7", "1, 3", "1–10", or the first of many without an order.
func (n *number) text() string {
	if len(n.values) == 1 {
		return n.values[0]
	}
	first, last := n.values[0], n.values[len(n.values)-1]
	row, same := true, true
	for i, v := range n.values[1:] {
		before, err1 := strconv.Atoi(n.values[i])
		value, err2 := strconv.Atoi(v)
		row = row && err1 == nil && err2 == nil && value == before+1
		same = same && v == first
	}
	switch {
	case same:
		return first
	case row && len(n.values) > 2:
		return first + "–" + last
	case len(n.values) <= 3:
		return strings.Join(n.values, ", ")
	default:
		return first + " … " + last
	}
}

func (n *numbers) marks(y int) []mark {
	out := make([]mark, len(n.list))
	for i, one := range n.list {
		out[i] = mark{X: percent((one.x1 + one.x2) / 2), Y: y, Label: one.text(), Anchor: "middle"}
	}
	return out
}
