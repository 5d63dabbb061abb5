package deadletter

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// believed is after how many empty replies in a row a queue counts as seen, where its
// counters say that there is more.
const believed = 3

// Listing is what a look at a dead-letter queue found.
type Listing struct {
	At       time.Time
	Filter   Filter
	Messages []Message // chosen by the filter, in the order in which they came here
	Seen     int       // messages, chosen or not
	Depth    Depth     // counted by the queue before the look
	// Behind is how many more lie behind the first ten of their groups and cannot be seen
	// before those are gone, as far as the queue counts.
	Behind int
	// Unseen is how many more the queue counts that are not behind others: others have
	// them in flight, they are delayed, or the counters lag.
	Unseen int
	// Full is set where the look ended early, since more could not be held at once: see
	// [Config.MaxHeld]. A slow endpoint has room for fewer.
	Full bool

	cut  map[string]bool // groups of which ten were seen
	seen map[stay]bool   // chosen or not
}

// Count is what an approval of a redrive names: every message that it may send.
func (l Listing) Count() int { return len(l.Messages) + l.Behind }

// List receives what the queue gives out, holds it until all was seen, and gives it
// back, whatever happens. Every message is seen once. It raises receive counts, and
// changes nothing else.
func (l *Letters) List(ctx context.Context, f Filter) (Listing, error) {
	listing := Listing{At: l.cfg.Clock.Now(), Filter: f, cut: map[string]bool{}, seen: map[stay]bool{}}
	var err error
	if listing.Depth, err = l.Depth(ctx); err != nil {
		return Listing{}, err
	}
	h := l.newHand()
	defer h.giveBack(ctx)
	for empty := 0; !listing.seenAll(empty); {
		wait := int32(poll)
		if listing.Seen >= listing.Depth.Total() {
			wait = 0 // nothing more is counted, so nothing is to be waited for
		}
		reply, err := h.take(ctx, wait)
		if err != nil {
			return Listing{}, err
		}
		if reply, err = h.whole(ctx, reply, listing.cut); err != nil {
			return Listing{}, err
		}
		empty++
		for _, raw := range reply {
			if err := h.keep(ctx); err != nil {
				return Listing{}, err
			}
			m, err := l.read(ctx, raw)
			if err != nil {
				return Listing{}, err
			}
			if !listing.seen[m.stay()] { // else it could not be hidden for long enough
				empty = 0
				listing.add(l, m)
			}
		}
		listing.Full = !h.room()
	}
	listing.finish()
	return listing, nil
}

// seenAll reports whether a look is over, after so many empty replies in a row.
func (l *Listing) seenAll(empty int) bool {
	return l.Full || empty >= believed || empty > 0 && l.Seen >= l.Depth.Total()
}

func (l *Listing) add(letters *Letters, m Message) {
	l.Seen++
	l.seen[m.stay()] = true
	if !letters.chooses(l.Filter, m) {
		return
	}
	if !l.Filter.Bodies {
		m.Body = ""
	}
	l.Messages = append(l.Messages, m)
}

func (l *Listing) finish() {
	// Replies keep the order of each group, and so does a stable sort by time.
	slices.SortStableFunc(l.Messages, func(a, b Message) int { return a.SentAt.Compare(b.SentAt) })
	rest := max(l.Depth.Total()-l.Seen, 0)
	if len(l.cut) > 0 && !l.Full {
		l.Behind = rest
	} else {
		l.Unseen = rest
	}
}

// whole leaves out of a full reply the messages of its last group, and gives them back:
// the reply may have had no room for the rest of them, who would then stay locked. The
// next reply brings the group anew, with up to ten. A reply of one group is noted in cut
// where it is full: more cannot be seen of that group. Every full reply so keeps a group
// at least, and a look comes to an end.
func (h *hand) whole(ctx context.Context, reply []types.Message, cut map[string]bool) ([]types.Message, error) {
	if len(reply) < batch {
		return reply, nil
	}
	first, last := groupOf(reply[0]), groupOf(reply[len(reply)-1])
	if first == last {
		cut[last] = true
		return reply, nil
	}
	var ids []string
	kept := slices.DeleteFunc(reply, func(m types.Message) bool {
		if groupOf(m) != last {
			return false
		}
		ids = append(ids, aws.ToString(m.MessageId))
		return true
	})
	return kept, h.release(ctx, ids...)
}

func groupOf(m types.Message) string {
	return m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]
}
