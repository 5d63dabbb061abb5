package audit

import (
	"context"
	"errors"
	"maps"
)

// mostFlawed bounds the messages that came under several ids. There should be none.
const mostFlawed = 1_000_000

var errTooFlawed = errors.New("more than a million messages came under several deduplication ids: these are no receipts of one queue")

// judgeNames finds messages that came under more than one id. SQS never changes the id
// of a message that stays in its queue, so either the endpoint or the receipts are at
// fault: nothing can be said of such a message, and it is left out of what follows.
func (a *auditor) judgeNames(ctx context.Context) error {
	return a.each(ctx, func(p int, found tally) error {
		type named struct {
			id uint64
			at int64
		}
		first := make(map[key]named, a.names.parts[p].count)
		flawed := map[key]bool{}
		var r nameRecord
		err := a.names.each(p, func(b []byte) error {
			r.get(b)
			before, known := first[r.message]
			if !known {
				first[r.message] = named{r.id, r.at}
				return nil
			}
			if before.id != r.id {
				flawed[r.message] = true
				found.add(ChangedID, Inconclusive, hit{at: r.at, other: before.at, reason: "one MessageId was delivered under two deduplication ids: the endpoint or the receipts are at fault, and the message is not judged"})
			}
			return nil
		})
		if err != nil {
			return err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if maps.Copy(a.flawed, flawed); len(a.flawed) > mostFlawed {
			return errTooFlawed
		}
		return nil
	})
}

// ends are the messages of a partition that the consumer was not done with, and the
// redriven copies that it was done with, by the first MessageId.
type ends struct{ unfinished, finished []byte }

func (e *ends) add(m *message) {
	r := placeRecord{key: m.key, at: m.at}
	again := m.flags&copied != 0
	if again {
		r.key = m.named
	}
	switch {
	case !m.done:
		e.unfinished = r.put(e.unfinished)
	case again:
		e.finished = r.put(e.finished)
	}
}

// judgeEnds finds the messages that nobody was done with, no redriven copy of them
// either.
func (a *auditor) judgeEnds(ctx context.Context) error {
	return a.each(ctx, func(p int, found tally) error {
		finished := make(map[key]bool, a.finished.parts[p].count)
		var r placeRecord
		err := a.finished.each(p, func(b []byte) error {
			r.get(b)
			finished[r.key] = true
			return nil
		})
		if err != nil {
			return err
		}
		return a.unfinished.each(p, func(b []byte) error {
			if r.get(b); !finished[r.key] {
				found.add(Unfinished, Note, hit{at: r.at, other: -1, reason: "delivered, and no receipt says that the consumer was done with it"})
			}
			return nil
		})
	})
}
