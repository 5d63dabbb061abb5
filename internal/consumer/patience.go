package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fifoproof/internal/receipt"
)

const (
	// A store that fails is asked again after 0.1, 0.2 ... 2 s: a database that is
	// restarted takes some ten seconds. After two minutes it is for whoever runs it.
	firstAsk  = 100 * time.Millisecond
	lastAsk   = 2 * time.Second
	asksFor   = 2 * time.Minute
	asksQuiet = 3 // so many failures in a row are no reason to be unready
)

// patience knows whether the store works.
type patience struct {
	mu     sync.Mutex
	failed int       // calls in a row
	worked time.Time // the last that did not fail
}

func (p *patience) note(err error) (failed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.failed, p.worked = 0, time.Now()
	} else {
		p.failed++
	}
	return p.failed
}

func (p *patience) working() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed == 0
}

func (p *patience) workedSince(t time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.worked.After(t)
}

// ask makes a call to the store, and makes it again while the store fails. What the
// store says of a claim is an answer and no failure. After two minutes the message's
// attempt is given up if calls for others succeed meanwhile, else the run.
func (r *run) ask(ctx context.Context, doing string, call func(context.Context) error) error {
	began, wait := time.Now(), firstAsk
	for {
		err := call(ctx)
		if final := (definite{}); errors.As(err, &final) {
			err = final.error
			r.storeWorks()
			return err
		}
		switch {
		case err == nil, errors.Is(err, receipt.ErrLost), errors.Is(err, receipt.ErrNoKey), errors.Is(err, receipt.ErrSettled):
			r.storeWorks()
			return err
		case ctx.Err() != nil:
			return err
		}
		r.cfg.Observer.CallFailed("store", err)
		r.warn.asking(doing, err)
		if r.patience.note(err) > asksQuiet {
			r.readiness.set("store", err.Error())
		}
		if time.Since(began) >= asksFor {
			if !r.patience.workedSince(began) {
				r.fail(&storeError{fmt.Errorf("the store has failed for %v, at last when %s: %w", asksFor, doing, err)})
			}
			return err
		}
		if sleep(ctx, wait) != nil {
			return err
		}
		wait = min(2*wait, lastAsk)
	}
}

func (r *run) storeWorks() {
	r.patience.note(nil)
	r.readiness.set("store", "")
}
