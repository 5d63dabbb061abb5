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

// walk meets the messages of a listing again and does act to each, in the order in which
// the queue gives them out, which is that of each group. behind is how many more may be
// met that lay behind others; they have to pass the listing's filter too. What is met
// and not meant is held until the end, so that it does not come again.
func (l *Letters) walk(ctx context.Context, listing Listing, behind int, do act, told func(Outcome)) (Tally, error) {
	tally := Tally{By: map[Result]int{}}
	report := func(o Outcome) {
		o.Message.Body = ""
		tally.By[o.Result]++
		told(o)
	}
	open := map[stay]bool{}
	for _, m := range listing.Messages {
		open[m.stay()] = true
	}
	h := l.newHand()
	defer h.giveBack(ctx)

	met := map[stay]bool{}
	for empty := 0; len(open)+behind > 0 && empty < believed && h.room(); {
		reply, err := h.take(ctx, poll)
		if err == nil {
			reply, err = h.whole(ctx, reply, map[string]bool{})
		}
		if err != nil {
			return tally, err
		}
		empty++
		for _, raw := range reply {
			if err := h.keep(ctx); err != nil {
				return tally, err
			}
			if !h.holds(raw) {
				continue // it could not be hidden for long enough, and comes again
			}
			m, err := l.read(ctx, raw)
			if err != nil {
				return tally, err
			}
			if met[m.stay()] {
				continue
			}
			met[m.stay()] = true
			empty = 0
			switch {
			case open[m.stay()]:
				delete(open, m.stay())
			case listing.seen[m.stay()]:
				continue // and not chosen
			case !listing.cut[m.Group] || behind == 0:
				tally.Unasked++
				continue
			case !l.chooses(listing.Filter, m):
				continue
			default:
				behind--
			}
			outcome, err := do(ctx, h, raw, m)
			report(outcome)
			if err != nil {
				return tally, err
			}
		}
	}
	for _, m := range listing.Messages {
		if open[m.stay()] {
			report(Outcome{Message: m, Result: Absent, Reason: "the queue did not give it out again: somebody else has it, or it is gone"})
		}
	}
	return tally, nil
}
