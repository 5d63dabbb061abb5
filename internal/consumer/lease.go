package consumer

import (
	"context"
	"errors"
	"sync"
	"time"

	"fifoproof/internal/receipt"
)

// keep renews a claim's lease while a handler reaches outside: after a third of it,
// and sooner where that failed. The message's visibility has the same beat, in
// heartbeat.go, so neither ends before the other while the consumer lives.
func (r *run) keep(ctx context.Context, claim receipt.Claim, lost func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for wait := r.cfg.Lease / 3; sleep(ctx, wait) == nil; {
			err := r.store.Renew(ctx, claim, r.cfg.Clock.Now(), r.cfg.Lease)
			switch {
			case errors.Is(err, receipt.ErrLost):
				lost()
				return
			case err != nil && ctx.Err() == nil:
				r.cfg.Observer.CallFailed("store", err)
				r.warn.asking("renewing a lease", err)
				wait = min(r.cfg.Lease/12, time.Second)
			default:
				wait = r.cfg.Lease / 3
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}
