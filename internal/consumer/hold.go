package consumer

import (
	"context"
	"slices"
	"time"

	"fifoproof/internal/receipt"
)

const (
	// glance is how often the receipts are asked for a message that others wait for.
	glance = time.Second
	// maxHeld is how many messages are kept hidden behind others that failed. What is
	// beyond comes again with them, and one receive is counted.
	maxHeld = 1000
)

// hold is a lane's wait for a message that failed or that somebody else has. The
// messages behind it stay in hand and hidden, so that they do not come again, and
// nearer to the dead-letter queue, with every attempt at it.
type hold struct {
	head  receipt.Delivery
	from  time.Time // before then nobody else can have got it
	until time.Time // then the others are given back
}

// over reports whether the queue will not give a message out again: it is done, or
// dead, and the next receive moves it.
func (c *Consumer) over(d receipt.Delivery, kind receipt.Kind) bool {
	return kind.Done() || (kind == receipt.Failed || kind == receipt.Rejected) && c.dead(d)
}

// holdBack lets a lane wait for the message that has left it. The caller holds the lock.
func (r *run) holdBack(l *lane, a *arrival, v verdict, until time.Time) {
	if len(l.waiting) == 0 || l.waiting[0].delivery.MessageID == a.delivery.MessageID {
		return // nobody would overtake it, or it is back already
	}
	l.hold = &hold{head: a.delivery, from: until, until: until.Add(r.cfg.Visibility)}
	if v.kind == receipt.Pending {
		l.hold.from = time.Now() // somebody has it already, perhaps
	}
	if r.held() > maxHeld {
		r.disband(l, errCrowded)
	}
}

// held counts the messages that are held. The caller holds the lock.
func (r *run) held() (n int) {
	for _, l := range r.lanes {
		if l.hold != nil {
			n += len(l.waiting)
		}
	}
	return n
}

// disband gives back what waits in a lane. The caller holds the lock.
func (r *run) disband(l *lane, why error) {
	back := l.waiting
	l.waiting, l.hold = nil, nil
	r.turn(l)
	r.giving.Go(func() { r.handBack(back, why) })
}

// watch looks after the lanes that wait, until ctx ends.
func (r *run) watch(ctx context.Context) {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for l, h := range r.waits() {
			r.look(ctx, l, h)
		}
	}
}

// waits are the lanes whose message may have come to its end elsewhere.
func (r *run) waits() map[*lane]*hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, waits := time.Now(), map[*lane]*hold{}
	for _, l := range r.lanes {
		if l.hold != nil && !now.Before(l.hold.from) {
			waits[l] = l.hold
		}
	}
	return waits
}

// look asks the receipts what became of the message that a lane waits for, whoever
// had it.
func (r *run) look(ctx context.Context, l *lane, h *hold) {
	receipts, err := r.store.Message(ctx, h.head.Identity())
	if err != nil && ctx.Err() == nil {
		r.cfg.Observer.CallFailed("store", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case l.hold != h:
		return // it has come back meanwhile
	case r.ended(h.head.MessageID, receipts):
		r.memory.forget(h.head.MessageID)
		l.hold = nil
		r.turn(l)
	case !time.Now().Before(h.until):
		r.disband(l, errHeadless)
	default:
		return
	}
	r.dispatch()
	r.signal()
}

// ended reports whether a message is done or dead by the receipts with its identity. The
// effect may be that of a redriven copy; dead is only the message itself.
func (c *Consumer) ended(message string, receipts []receipt.Receipt) bool {
	return slices.ContainsFunc(receipts, func(r receipt.Receipt) bool {
		gone := (r.Kind == receipt.Failed || r.Kind == receipt.Rejected) && c.cfg.MaxReceives > 0 && r.ReceiveCount >= c.cfg.MaxReceives
		return r.Kind.Done() || gone && r.MessageID == message
	})
}
