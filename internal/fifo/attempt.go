package fifo

import "time"

// attemptLife is how long a receive attempt id is good for (API reference,
// ReceiveMessage).
const attemptLife = 5 * time.Minute

// attempts remembers what each receive with an attempt id handed out.
type attempts struct {
	byID map[string]*attempt
	log  []*attempt // in order of time
}

type attempt struct {
	id       string
	at       time.Time
	receipts []Receipt
}

func (a *attempts) note(now time.Time, id string, taken []*message) {
	made := &attempt{id: id, at: now, receipts: make([]Receipt, len(taken))}
	for i, m := range taken {
		made.receipts[i] = Receipt{Order: m.order, Take: m.take}
	}
	a.byID[id] = made
	a.log = append(a.log, made)
}

// expire forgets attempts that are too old.
func (a *attempts) expire(now time.Time) {
	n := 0
	for n < len(a.log) && now.Sub(a.log[n].at) >= attemptLife {
		if old := a.log[n]; a.byID[old.id] == old {
			delete(a.byID, old.id)
		}
		a.log[n] = nil
		n++
	}
	a.log = a.log[n:]
}

// repeat returns the messages of an earlier attempt if all of them are still in
// flight from it, and none if the id is new or their visibility timeout is over,
// which makes the call an ordinary receive.
func (a *attempts) repeat(q *Queue, id string) ([]*message, error) {
	made := a.byID[id]
	if made == nil {
		return nil, nil
	}
	again := make([]*message, 0, len(made.receipts))
	for _, receipt := range made.receipts {
		m, exists := q.byOrder[receipt.Order]
		if !exists || m.take == receipt.Take && m.changed {
			return nil, ErrNotRetryable
		}
		if m.take == receipt.Take && m.state == inFlight {
			again = append(again, m)
		}
	}
	if len(again) < len(made.receipts) {
		return nil, nil
	}
	return again, nil
}
