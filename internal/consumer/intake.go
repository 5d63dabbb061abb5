package consumer

import (
	"context"
	"time"

	"fifoproof/internal/receipt"
)

const (
	// inHand is how many messages per lane at work may be in hand, so that the groups
	// of several replies are worked on side by side.
	inHand = 10
	// maxPolls is how many polls may be in flight while there is a backlog.
	maxPolls = 4
)

// room waits until another reply may be taken in, and counts its poll. False: the run
// is to end.
func (r *run) room() bool {
	for r.work.Err() == nil {
		if r.reserve() {
			return true
		}
		select {
		case <-r.changed:
		case <-r.work.Done():
		}
	}
	return false
}

// reserve counts a poll if its reply has room. Messages that are held take none: their
// heads have to be received again.
func (r *run) reserve() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	load := len(r.hand) - r.held()
	if load+(r.polls+1)*batch > r.cfg.Concurrency*inHand && r.polls+load > 0 {
		return false
	}
	r.polls++
	return true
}

// surge begins another poll beside the first: the queue has more than one reply holds.
func (r *run) surge() {
	r.mu.Lock()
	enough := r.polls >= maxPolls
	r.mu.Unlock()
	if enough || !r.reserve() {
		return
	}
	r.polling.Go(func() {
		for {
			n, err := r.take(0)
			if err != nil || n < batch || r.work.Err() != nil || !r.reserve() {
				return // the first poll will see what is wrong, if anything is
			}
		}
	})
}

// take makes one poll for which there is room, and lines up what it brings.
func (r *run) take(wait time.Duration) (n int, err error) {
	defer func() {
		r.mu.Lock()
		r.polls--
		r.mu.Unlock()
		r.signal()
	}()
	reply, err := r.receive(r.work, wait)
	if err != nil || len(reply) == 0 {
		return 0, err
	}
	r.mu.Lock()
	for _, a := range reply {
		r.hand[a] = struct{}{}
	}
	r.mu.Unlock()
	err = r.ask(r.calls, "recording", func(ctx context.Context) error { return r.record(ctx, reply) })
	if err != nil {
		r.handBack(reply, errUnrecorded)
		err = &storeError{err}
		r.fail(err)
		return 0, err
	}
	r.lineUp(reply)
	return len(reply), nil
}

// lineUp puts the messages of a reply into their lanes.
func (r *run) lineUp(reply []*arrival) {
	var old []*arrival
	r.mu.Lock()
	for _, a := range reply {
		l := r.lanes[r.lane(a)]
		if l == nil {
			l = &lane{name: r.lane(a)}
			r.lanes[l.name] = l
		}
		if was := l.join(a); was != nil {
			old = append(old, was)
			delete(r.hand, was)
		}
		r.turn(l)
	}
	r.dispatch()
	r.mu.Unlock()
	for _, a := range old {
		r.note(a, verdict{kind: receipt.Pending, err: errAgain})
	}
}

// signal wakes whoever waits for room.
func (r *run) signal() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}
