package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"fifoproof/internal/conformance"
)

// PlanText writes what a run would do: a line for each area, the waits as bars over
// the time of the run, and the totals. A plan of the default profile fits on one screen.
func PlanText(w io.Writer, plan *conformance.Plan) error {
	var b bytes.Buffer
	t := plan.Target
	name := t.Name
	if p := product(t); p != t.Name {
		name = strings.TrimSpace(p+" "+t.Version) + " at " + t.Name
	}
	if t.Name == aws {
		name = product(t) + " in " + t.Region
	}
	if t.Queue != "" {
		name += ", queue " + t.Queue
	}
	fmt.Fprintf(&b, "plan · %s, %s clock · profile %s\n", name, t.Clock, orDash(string(plan.Profile)))
	planAreas(&b, plan)
	planWaits(&b, plan)
	premises := 0
	for _, c := range plan.Cases {
		if c.Premise {
			premises++
		}
	}
	line := plural(len(plan.Cases), "case")
	if premises > 0 {
		line += fmt.Sprintf(" (%d as premises)", premises)
	}
	if len(plan.NotRun) > 0 {
		line += fmt.Sprintf(", %d not run", len(plan.NotRun))
	}
	fmt.Fprintf(&b, "%s · longest wait %s\n", line, Duration(seconds(plan.Longest)))
	took := Duration(seconds(plan.Seconds)) + " in all"
	if plan.Seconds == 0 {
		took = "no waiting, since the clock is virtual"
	}
	fmt.Fprintf(&b, "%s · %s · %s\n", plural(plan.Calls, "call"), plural(plan.Queues, "queue"), took)
	if plan.Cost != "" {
		fmt.Fprintf(&b, "cost: %s\n", plan.Cost)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// planned is what a plan has of one area.
type planned struct {
	name          string
	atOnce, waits int
	calls, queues int
}

func planAreas(b *bytes.Buffer, plan *conformance.Plan) {
	var list []*planned
	byName := map[string]*planned{}
	for _, c := range plan.Cases {
		name := areaOf(c.ID)
		a, known := byName[name]
		if !known {
			a = &planned{name: name}
			byName[name] = a
			list = append(list, a)
		}
		if c.Wait > 0 {
			a.waits++
		} else {
			a.atOnce++
		}
		a.calls += c.Calls
		a.queues += c.Queues
	}
	for _, a := range list {
		var parts []string
		for _, part := range []struct {
			n    int
			word string
		}{{a.atOnce, "at once"}, {a.waits, "waiting"}} {
			if part.n > 0 {
				parts = append(parts, fmt.Sprintf("%3d %-7s", part.n, part.word))
			} else {
				parts = append(parts, strings.Repeat(" ", 11))
			}
		}
		fmt.Fprintf(b, column+" %s   %s, %s\n", a.name, strings.Join(parts, "  "), plural(a.calls, "call"), plural(a.queues, "queue"))
	}
}

// wait is a bar of the plan: cases of one area that wait for the same stretch.
type wait struct {
	area         string
	begins, ends float64
	cases        int
}

// planWaits draws the cases that wait. Those of one area whose stretches look alike at
// the width of a terminal share a bar.
func planWaits(b *bytes.Buffer, plan *conformance.Plan) {
	const width = 48
	var bars []*wait
	byKey := map[string]*wait{}
	last := plan.Seconds
	for _, c := range plan.Cases {
		last = max(last, c.Ends)
	}
	for _, c := range plan.Cases {
		if c.Wait <= 0 || last <= 0 {
			continue
		}
		from, to := int(c.Begins/last*width), int(math.Ceil(c.Ends/last*width))
		key := fmt.Sprintf("%s %d %d", areaOf(c.ID), from, to)
		bar, known := byKey[key]
		if !known {
			bar = &wait{area: areaOf(c.ID), begins: c.Begins, ends: c.Ends}
			byKey[key] = bar
			bars = append(bars, bar)
		}
		bar.cases++
		bar.begins, bar.ends = min(bar.begins, c.Begins), max(bar.ends, c.Ends)
	}
	if len(bars) == 0 {
		return
	}
	fmt.Fprintln(b)
	for _, bar := range bars {
		from := min(int(bar.begins/last*width), width-1)
		to := min(max(int(math.Ceil(bar.ends/last*width)), from+1), width)
		fmt.Fprintf(b, column+" %s%s%s  %s, until %s\n", bar.area, strings.Repeat("░", from), strings.Repeat("▓", to-from), strings.Repeat("░", width-to),
			plural(bar.cases, "case"), Duration(seconds(bar.ends)))
	}
	fmt.Fprintln(b)
}
