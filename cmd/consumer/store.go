package main

import (
	"context"
	"time"

	"fifoproof/internal/clock"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/driver"
)

const (
	openPatience = 30 * time.Second // what a database takes to start again
	openPause    = time.Second
)

// openPatiently opens the receipts of a consumer that may be started while its
// database is.
func openPatiently(ctx context.Context, db string, talk *talk) (receipt.Store, error) {
	for begun := time.Now(); ; {
		store, err := driver.Open(ctx, db)
		if err == nil || !driver.Passing(err) || time.Since(begun) >= openPatience {
			return store, err
		}
		talk.sayf(warningPrefix+"%v; trying again for %v", err, (openPatience - time.Since(begun)).Round(time.Second))
		if err := clock.Sleep(ctx, clock.Real{}, openPause); err != nil {
			return nil, err
		}
	}
}
