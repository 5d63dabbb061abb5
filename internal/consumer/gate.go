package consumer

import (
	"time"

	"fifoproof/internal/receipt"
)

// gate is closed while a handler says that nothing can be carried out until somebody
// mends something. After each back-off one message is let through to see whether that
// has been done. The run's lock guards it.
type gate struct {
	closed bool
	tries  int
	until  time.Time // the next message may pass then
	probe  *arrival  // the one that was let through
}

func (g *gate) admits(now time.Time) bool {
	return !g.closed || g.probe == nil && !now.Before(g.until)
}

// passGate closes or opens the gate by what became of a message. The caller holds the
// lock.
func (r *run) passGate(a *arrival, v verdict) {
	g := &r.gate
	probed := g.closed && g.probe == a
	if probed {
		g.probe = nil
	}
	switch {
	case v.halted && g.closed && !probed:
		// one of those that were at work when it closed
	case v.halted:
		g.closed = true
		g.tries++
		r.shut(g, v.err)
	case g.closed && v.called && (v.kind == receipt.Fresh || v.kind == receipt.Rejected):
		*g = gate{}
		r.readiness.set("handler", "")
	case probed && v.called:
		r.shut(g, nil)
	}
}

// shut sets the gate's next opening.
func (r *run) shut(g *gate, why error) {
	r.random.Lock()
	wait := max(r.cfg.Backoff.Wait(g.tries, r.cfg.Random), time.Second)
	r.random.Unlock()
	g.until = time.Now().Add(wait)
	if why != nil {
		r.readiness.set("handler", why.Error())
	}
	time.AfterFunc(wait, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.dispatch()
	})
}
