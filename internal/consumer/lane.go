package consumer

import (
	"errors"
	"slices"
	"time"

	"fifoproof/internal/receipt"
)

// Why a delivery was put off without an attempt.
var (
	errAgain      = errors.New("received again before its turn")
	errExpired    = errors.New("its visibility timeout ran out before its turn")
	errGivenBack  = errors.New("given back: the consumer stopped")
	errUnrecorded = errors.New("given back: it could not be recorded")
	errHeadless   = errors.New("given back: the message before it is neither done nor dead")
	errCrowded    = errors.New("given back: too many messages wait behind others that failed")
)

// lane is the messages of one group that are in hand, worked on one at a time and in
// order. On a queue without groups every message has a lane of its own.
type lane struct {
	name    string
	waiting []*arrival // in the order of their sequence numbers
	working *arrival
	hold    *hold // set while waiting for a message that is not in hand
	queued  bool  // among those that may begin
	resting bool  // its first message is in flight elsewhere, and looked at again in a moment
}

// join lines a message up. A message that comes again takes the place of its former
// self, whose handle is good for nothing any more, and which is returned. The message
// that the lane waits for ends the wait.
func (l *lane) join(a *arrival) (old *arrival) {
	if l.hold != nil && l.hold.head.MessageID == a.delivery.MessageID {
		l.hold = nil
		l.waiting = slices.Insert(l.waiting, 0, a)
		return nil
	}
	for i, b := range l.waiting {
		if b.delivery.MessageID == a.delivery.MessageID && b.handle != a.handle {
			l.waiting[i] = a
			return b
		}
	}
	i := len(l.waiting)
	for i > 0 && before(a.delivery, l.waiting[i-1].delivery) {
		i--
	}
	l.waiting = slices.Insert(l.waiting, i, a)
	return nil
}

// turn queues a lane that may begin, and forgets one that has nothing to do.
func (r *run) turn(l *lane) {
	switch {
	case l.working != nil || l.queued || l.resting:
	case len(l.waiting) == 0:
		delete(r.lanes, l.name)
	case l.hold == nil:
		l.queued = true
		r.ready = append(r.ready, l)
	}
}

// dispatch begins what may begin. The caller holds the lock.
func (r *run) dispatch() {
	for len(r.ready) > 0 && r.atWork < r.cfg.Concurrency && r.work.Err() == nil && r.gate.admits(time.Now()) {
		l := r.ready[0]
		r.ready = r.ready[1:]
		l.queued = false
		a := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.working = a
		r.atWork++
		if r.gate.closed {
			r.gate.probe = a
		}
		expired := a.lost || !time.Now().Before(a.hidden)
		r.working.Go(func() { r.carryOn(l, a, expired) })
	}
	r.cfg.Observer.Lanes(len(r.lanes), r.atWork)
}

// carryOn takes one message to its end and lets its lane go on.
func (r *run) carryOn(l *lane, a *arrival, expired bool) {
	if expired {
		r.note(a, verdict{kind: receipt.Pending, err: errExpired})
		r.proceed(l, a, verdict{kind: receipt.Pending, err: errExpired}, time.Now())
		return
	}
	v := r.carrier.carry(r.calls, r.hands, a)
	if v.flying {
		r.rest(l, a, v)
		return
	}
	news := r.learn(a, v)
	until := time.Now()
	if !v.kind.Done() && !v.halted {
		until = r.putOff(a, v)
	}
	if !v.halted {
		r.settled(a, v)
	}
	switch {
	case v.kind.Done(), news && v.kind == receipt.Rejected:
		r.progressed(time.Now())
	case news, r.cfg.MaxReceives > 0, v.kind == receipt.Pending && !v.broken:
		r.progressed(until) // a wait that will end is no silence
	}
	r.proceed(l, a, v, until)
}

// rest lets a lane wait in hand for whoever is at work on its message's key. Most often
// that is done in a moment, and a message that is hidden and received again for each
// look would come nearer to the dead-letter queue.
func (r *run) rest(l *lane, a *arrival, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.working = nil
	r.atWork--
	r.passGate(a, v)
	l.waiting = slices.Insert(l.waiting, 0, a)
	l.resting = true
	wait := min(max(v.after, time.Millisecond), firstLook<<min(a.looks, 16), glance)
	a.looks++
	time.AfterFunc(wait, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		l.resting = false
		r.turn(l)
		r.dispatch()
		r.signal()
	})
	r.dispatch()
	r.signal()
}

// proceed takes a message out of its lane, and decides how the lane goes on: until is
// when the message becomes visible again, if it does.
func (r *run) proceed(l *lane, a *arrival, v verdict, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.working = nil
	r.atWork--
	switch {
	case v.kind.Done():
		a.quiet = true
		delete(r.hand, a)
		r.done = append(r.done, a)
		r.flush()
	case v.halted:
		// It stays in hand, and so does not come nearer to the dead-letter queue.
		l.waiting = slices.Insert(l.waiting, 0, a)
		a.id = 0
	default:
		delete(r.hand, a)
		if !r.over(a.delivery, v.kind) {
			r.holdBack(l, a, v, until)
		}
	}
	r.passGate(a, v)
	r.turn(l)
	r.dispatch()
	r.signal()
}

// note settles a delivery that was put off without a call about its message.
func (r *run) note(a *arrival, v verdict) {
	ending := receipt.Ending{Kind: receipt.Pending, Reason: reason(v.err), At: r.cfg.Clock.Now()}
	if a.id != 0 && r.patience.working() {
		if err := r.store.Settle(r.calls, a.id, ending); err != nil && !errors.Is(err, receipt.ErrSettled) {
			r.cfg.Observer.CallFailed("store", err)
		}
	}
	r.settled(a, v)
}
