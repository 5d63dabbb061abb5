package consumer

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"fifoproof/internal/receipt"
)

// notesAtOnce is how many messages that are given back are noted side by side, since
// each is a commit.
const notesAtOnce = 16

// drain ends what was begun and gives back what was not. Work has ended before.
func (r *run) drain() {
	r.giveBack()
	r.polling.Wait() // they are cut off, unless they have a reply to record
	r.giveBack()
	r.working.Wait()
	r.giveBack() // what waited for its lane, and what stays in hand where handlers are halted
	r.giving.Wait()
	r.sending.Wait()
}

// giveBack gives back everything that waits.
func (r *run) giveBack() {
	var back []*arrival
	r.mu.Lock()
	for name, l := range r.lanes {
		back = append(back, l.waiting...)
		l.waiting, l.hold, l.queued = nil, nil, false
		if l.working == nil {
			delete(r.lanes, name)
		}
	}
	r.ready = nil
	r.mu.Unlock()
	r.handBack(back, errGivenBack)
}

// handBack makes messages visible again that were not begun, so that they need not
// wait for their visibility timeout, and nothing is ever sent again.
func (r *run) handBack(back []*arrival, why error) {
	if len(back) == 0 {
		return
	}
	slices.SortStableFunc(back, func(a, b *arrival) int { return cmp.Compare(a.id, b.id) })
	r.hush(back...)
	r.mu.Lock()
	var held []*arrival
	for _, a := range back {
		delete(r.hand, a)
		if !a.lost {
			held = append(held, a)
		}
	}
	r.mu.Unlock()
	r.expose(r.calls, held)
	var noting sync.WaitGroup
	slots := make(chan struct{}, notesAtOnce)
	for _, a := range back {
		v := verdict{kind: receipt.Pending, err: why}
		if a.id == 0 && why != errUnrecorded { //nolint:errorlint // it is the very one
			v.kind = receipt.Failed // by its last attempt
		}
		slots <- struct{}{}
		noting.Go(func() {
			r.note(a, v)
			<-slots
		})
	}
	noting.Wait()
	r.signal()
}

// putOff hides a message until its next attempt, and returns when that may be.
func (r *run) putOff(a *arrival, v verdict) time.Time {
	wait := r.wait(a, v)
	r.hush(a)
	asked := time.Now()
	failed, err := r.hide(r.calls, []change{hiding(a, wait)})
	switch {
	case err != nil:
		r.warn.kept(1, err)
		r.mu.Lock()
		defer r.mu.Unlock()
		return a.hidden
	case len(failed) > 0:
		return asked // somebody else has it, or may have it
	case v.kind == receipt.Failed && !r.dead(a.delivery):
		r.cfg.Observer.BackedOff(a.delivery, wait)
	}
	return asked.Add(wait)
}
