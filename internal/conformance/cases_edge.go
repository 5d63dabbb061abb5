package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func edgeCases() []Case {
	return []Case{
		{
			ID: "window/edge/below", Level: Must, Source: sendMessage, Wait: W,
			Text:     "A ladder of gaps up to the five minutes, each with an id of its own that was sent once at the start: every resend whose gap is surely below five minutes is suppressed. An endpoint whose window is short, or shortens under load, loses a rung.",
			Timeline: "0 s send 11 ids · receive, delete · 60, 180, 240, 270, 285, 290, 293, 295, 296, 297 and 298 s: each id again · fence",
			Want:     "no copy of any resend below five minutes",
			steps:    ladder(0, 60, 180, 240, 270, 285, 290, 293, 295, 296, 297, 298),
		},
		{
			ID: "window/edge/above", Level: Should, Source: recoveryGuide, Wait: W + mustPast,
			Text:     "The other half of the ladder: every resend whose gap is surely above five minutes is delivered. An endpoint that cleans up by a timer delivers late. AWS also writes of a minimum of five minutes, so this binds nobody before six.",
			Timeline: "0 s send 9 ids · receive, delete · 301, 302, 305, 310, 315, 320, 330, 345 and 359 s: each id again · fence",
			Want:     "a copy of each resend above five minutes",
			steps:    ladder(0, 301, 302, 305, 310, 315, 320, 330, 345, 359),
		},
		{
			ID: "window/edge/bracket", Level: Info, Source: unpublished, Wait: W + mustPast,
			Text:     "Where the window really ends: the longest gap that was surely suppressed and the shortest that was surely delivered. Once a first ladder has bracketed the end, ids that were opened some seconds later refine it, on a virtual clock down to the nanosecond. AWS has published no measurement.",
			Timeline: "0 s send 20 ids · 8 s send 10 more, 16 s 10 more · 240 to 359 s: each id again, the later ones within the bracket · fence",
			Want:     "suppressed below 300 s, delivered from 300 s",
			steps:    ladder(2, 240, 270, 285, 290, 293, 295, 297, 298, 299, 299.5, 300.5, 301, 302, 303, 305, 310, 320, 330, 345, 359),
		},
	}
}

const (
	// refinedIDs are opened for each level of refinement, in one batch.
	refinedIDs = 10
	// levelGap lies between the openings of two levels: time enough to learn where the
	// end is before the next level's probes are due.
	levelGap = 8 * time.Second
	// exactLevels refine the bracket from half a second to a nanosecond, ten ids each.
	exactLevels = 9
	// pollBefore is how far away the next probe must be for a long poll meanwhile.
	pollBefore = 3 * time.Second
)

// rung is one id of a ladder.
type rung struct {
	id, body string
	opening  int // index of its first send
	gap      time.Duration
}

// ladder opens an id for each gap in seconds, and sends each again after its gap. With
// levels, ids opened later divide the bracket that shows.
func ladder(levels int, gaps ...float64) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		if levels > 0 && b.setup.Exact {
			levels = exactLevels
		}
		l := &climb{bench: b}
		var err error
		if l.queue, err = b.queue(ctx, plain); err != nil {
			return err
		}
		coarse, err := l.open(ctx, "coarse", len(gaps))
		if err != nil {
			return err
		}
		for i, gap := range gaps {
			coarse[i].gap = time.Duration(gap * float64(time.Second))
		}
		var finer [][]rung
		for level := range levels {
			if err := b.waitInside(ctx, coarse[0].opening, time.Duration(level+1)*levelGap); err != nil {
				return err
			}
			rungs, err := l.open(ctx, fmt.Sprintf("level-%d", level+1), refinedIDs)
			if err != nil {
				return err
			}
			finer = append(finer, rungs)
		}
		return l.climb(ctx, coarse, finer)
	}
}

// climb is a ladder under way.
type climb struct {
	bench  *Bench
	queue  *queue
	probes []rung
	claims []Claim
	came   map[string]bool // bodies that came again
}

// open sends n new ids, and receives and deletes them, in one claim.
func (l *climb) open(ctx context.Context, name string, n int) ([]rung, error) {
	rungs := make([]rung, n)
	first := l.bench.wire.sends()
	var sends []func() error
	for batch := range slices.Chunk(rungs, batchMost) {
		at := len(sends) * batchMost
		messages := make([]message, len(batch))
		for i := range batch {
			id := fmt.Sprintf("%s-%d", name, at+i)
			batch[i] = rung{id: id, body: fmt.Sprintf(`{"rung":%q}`, id), opening: first + at + i}
			messages[i] = message{"g", id, batch[i].body}
		}
		sends = append(sends, l.queue.batching(ctx, messages...))
	}
	return rungs, l.queue.claim(ctx, "the "+name+" ids", n, sends...)
}

// batchMost is the most entries of a batch.
const batchMost = 10

// climb sends the coarse rungs again in the order of their gaps, then those of each
// finer level within the bracket found so far, and settles all in the end.
func (l *climb) climb(ctx context.Context, coarse []rung, finer [][]rung) error {
	b := l.bench
	l.came = map[string]bool{}
	after := b.wire.lastReply()
	for _, r := range coarse {
		if err := l.probe(ctx, r, after); err != nil {
			return err
		}
		// The bracket is whole: go on with the finer ids, and leave the rest of the coarse
		// ones for after them, as far as their time has not passed.
		if !l.came[r.body] || len(finer) == 0 {
			continue
		}
		for _, rungs := range finer {
			if err := l.refine(ctx, rungs, after); err != nil {
				return err
			}
		}
		finer = nil
	}
	fenced, err := l.queue.settle(ctx)
	for _, c := range l.claims {
		c.Fenced = fenced
		b.record(Record{Claim: &c})
	}
	return err
}

// refine divides the bracket by rungs, as far as their time has not come yet.
func (l *climb) refine(ctx context.Context, rungs []rung, after int) error {
	low, high := time.Duration(0), time.Duration(0)
	for _, p := range l.probes {
		switch {
		case !l.came[p.body]:
			low = max(low, p.gap)
		case high == 0 || p.gap < high:
			high = p.gap
		}
	}
	now := l.bench.clock.Now()
	low = max(low, now.Sub(l.bench.live(rungs[0].opening).Start))
	if high <= low {
		return nil
	}
	step := max((high-low)/time.Duration(len(rungs)+1), 1)
	for i, r := range rungs {
		r.gap = low + step*time.Duration(i+1)
		if r.gap >= high {
			break
		}
		if err := l.probe(ctx, r, after); err != nil {
			return err
		}
	}
	return nil
}

// probe waits for the rung's gap, sends its id again, and looks whether it comes.
func (l *climb) probe(ctx context.Context, r rung, after int) error {
	b := l.bench
	due := b.live(r.opening).Start.Add(r.gap)
	for due.Sub(b.clock.Now()) > pollBefore && !b.setup.Exact && l.awaited() {
		if err := l.look(ctx, longPoll); err != nil {
			return err
		}
	}
	if due.Before(b.clock.Now()) {
		return nil // its time passed while finer ones were probed
	}
	if err := b.waitUntil(ctx, due); err != nil {
		return err
	}
	first := b.wire.sends()
	if _, err := l.queue.send(ctx, "g", r.id, r.body); err != nil {
		return err
	}
	l.probes = append(l.probes, r)
	l.claims = append(l.claims, Claim{
		What: "again after " + secondsText(r.gap), Queue: l.queue.url, After: after, First: first, Last: b.wire.sends(),
		Measured: true, Digest: digestOf(r.body),
	})
	return l.look(ctx, 0)
}

// awaited reports whether the latest probe has not been seen yet.
func (l *climb) awaited() bool {
	return len(l.probes) > 0 && !l.came[l.probes[len(l.probes)-1].body]
}

// look receives what has come, and deletes it.
func (l *climb) look(ctx context.Context, wait time.Duration) error {
	got, err := l.queue.receive(ctx, func(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds = int32(wait / time.Second) })
	if err != nil {
		return err
	}
	l.note(got)
	return l.queue.remove(ctx, got)
}

func (l *climb) note(got []types.Message) {
	for _, m := range got {
		if m.Body != nil {
			l.came[*m.Body] = true
		}
	}
}
