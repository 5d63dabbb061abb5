package deadletter

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Result is what became of a message.
type Result string

const (
	// Sent is a message whose copy lies in its source, and which is gone from here.
	Sent Result = "sent"
	// Finished is a message whose copy an earlier run had sent, as the receipts show. It
	// was only deleted.
	Finished Result = "finished"
	// Dropped is a message that was deleted.
	Dropped Result = "dropped"
	// Skipped is a message whose effect happened already. It stays, to be dropped.
	Skipped Result = "done already"
	// Left is a message that a consumer is at work on. It stays.
	Left Result = "running"
	// Failed is a message that could not be sent, or not be deleted. It stays.
	Failed Result = "failed"
	// Held is a message that stays because one before it in its group did.
	Held Result = "held back"
	// Absent is a message that the queue did not give out again: somebody else has it,
	// or it is gone.
	Absent Result = "not met again"
)

// Results are all results, in the order in which they are shown.
func Results() []Result {
	return []Result{Sent, Finished, Dropped, Skipped, Left, Failed, Held, Absent}
}

// Gone reports whether the message has left the dead-letter queue through this run.
func (r Result) Gone() bool { return r == Sent || r == Finished || r == Dropped }

// Outcome is what became of one message, and why where it stays.
type Outcome struct {
	Message Message
	Result  Result
	Reason  string
	CopyID  string // MessageId of the copy in the source
}

// Tally counts outcomes.
type Tally struct {
	By map[Result]int
	// Unasked is how many more were met that the listing did not show: they came later,
	// or are more than were counted behind others. They stay.
	Unasked int
}

// Stayed is how many of those that were asked for are not gone.
func (t Tally) Stayed() int {
	n := 0
	for result, count := range t.By {
		if !result.Gone() {
			n += count
		}
	}
	return n
}

// act does to one message what is asked for. An error ends the walk: those behind would
// fare no better.
type act func(ctx context.Context, h *hand, raw types.Message, m Message) (Outcome, error)

// walk is the way through the messages of a listing, which are met again.
type walk struct {
	*hand

	listing Listing
	behind  int           // how many more may be met that lay behind others
	open    map[stay]bool // of the listing, and not met yet
	met     map[stay]bool
	do      act
	told    func(Outcome)
	tally   Tally
}

// walk meets the messages of a listing again and does act to each, in the order in which
// the queue gives them out, which is that of each group. behind is how many more may be
// met that lay behind others; they have to pass the listing's filter too. What is met
// and not meant is held until the end, so that it does not come again.
func (l *Letters) walk(ctx context.Context, listing Listing, behind int, do act, told func(Outcome)) (Tally, error) {
	w := walk{
		hand: l.newHand(), listing: listing, behind: behind, open: map[stay]bool{}, met: map[stay]bool{},
		do: do, told: told, tally: Tally{By: map[Result]int{}},
	}
	defer w.giveBack(ctx)
	for _, m := range listing.Messages {
		w.open[m.stay()] = true
	}
	for empty := 0; len(w.open)+w.behind > 0 && empty < believed && w.room(); {
		reply, err := w.take(ctx, poll)
		if err == nil {
			reply, err = w.whole(ctx, reply, map[string]bool{})
		}
		if err != nil {
			return w.tally, err
		}
		empty++
		for _, raw := range reply {
			isNew, err := w.meet(ctx, raw)
			if err != nil {
				return w.tally, err
			}
			if isNew {
				empty = 0
			}
		}
	}
	for _, m := range listing.Messages {
		if w.open[m.stay()] {
			w.report(Outcome{Message: m, Result: Absent, Reason: "the queue did not give it out again: somebody else has it, or it is gone"})
		}
	}
	return w.tally, nil
}

// meet does what is asked for to a message that was received, if it is meant. isNew is
// false where it was met before, or could not be hidden for long enough and comes again.
func (w *walk) meet(ctx context.Context, raw types.Message) (isNew bool, err error) {
	if err := w.keep(ctx); err != nil || !w.holds(raw) {
		return false, err
	}
	m, err := w.read(ctx, raw)
	if err != nil || w.met[m.stay()] {
		return false, err
	}
	w.met[m.stay()] = true
	if !w.meant(m) {
		return true, nil
	}
	outcome, err := w.do(ctx, w.hand, raw, m)
	w.report(outcome)
	return true, err
}

// meant reports whether the listing showed m, or may have counted it behind others.
func (w *walk) meant(m Message) bool {
	switch {
	case w.open[m.stay()]:
		delete(w.open, m.stay())
		return true
	case w.listing.seen[m.stay()]: // and not chosen
		return false
	case !w.listing.cut[m.Group] || w.behind == 0:
		w.tally.Unasked++
		return false
	case !w.chooses(w.listing.Filter, m):
		return false
	default:
		w.behind--
		return true
	}
}

func (w *walk) report(o Outcome) {
	o.Message.Body = ""
	w.tally.By[o.Result]++
	w.told(o)
}
