package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/receipt"
	"fifoproof/internal/target"
)

const (
	// retentionMargin is for what neither queue's retention counts: a redrive by hand,
	// a clock that is off, a reaping that comes early.
	retentionMargin = 24 * time.Hour

	// reapEvery is how often old receipts are forgotten, so a key may be known an hour
	// longer than it has to be.
	reapEvery = time.Hour
)

// shortest is the least retention under which no message can come back after its key
// was forgotten. It counts from the key's last delivery: from there a message may lie
// in the dead-letter queue for that queue's whole retention (the move of a FIFO message
// begins it anew) and then, redriven, in the queue for the queue's. (SQS Developer
// Guide, "Using dead-letter queues", message retention; "Configuring a redrive".)
func shortest(queue target.Settings, deadLetters *target.Settings) time.Duration {
	least := queue.Retention + retentionMargin
	if deadLetters != nil {
		least += deadLetters.Retention
	}
	return least
}

// checkRetention refuses a retention that is too short, unless told otherwise.
func checkRetention(f consumeFlags, least time.Duration) (note string, err error) {
	switch {
	case f.Retention == 0:
		return "", nil
	case f.Retention >= least:
		return fmt.Sprintf("keys are forgotten %s after their last delivery; %s are needed", span(f.Retention), span(least)), nil
	case f.ShortRetention:
		return fmt.Sprintf(warningPrefix+"keys are forgotten %s after their last delivery, and a message may come back for %s: it would have a second effect",
			span(f.Retention), span(least)), nil
	default:
		return "", cli.Hint(fmt.Errorf("--retention %s is too short: a message may wait in the queue and its dead-letter queue, and come back, for %s",
			span(f.Retention), span(least)), "name %v or more, or add --short-retention if a second effect does no harm", least)
	}
}

// reaping forgets what is older than the retention, at once and then every hour, until
// stop, which waits for it.
func reaping(ctx context.Context, store receipt.Store, retention time.Duration, talk *talk) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() {
		ticker := time.NewTicker(reapEvery)
		defer ticker.Stop()
		for ctx.Err() == nil {
			reap(ctx, store, retention, talk)
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	})
	return func() { cancel(); ended.Wait() }
}

func reap(ctx context.Context, store receipt.Store, retention time.Duration, talk *talk) {
	keys, receipts, err := store.Reap(ctx, time.Now().Add(-retention))
	switch {
	case ctx.Err() != nil:
	case err != nil:
		talk.sayf(warningPrefix+"forgetting old receipts: %v; trying again in %v", err, reapEvery)
	case keys+receipts > 0:
		talk.sayf("forgot %s and %s, last delivered more than %s ago", plural(keys, "key", "keys"), plural(receipts, "receipt", "receipts"), span(retention))
	}
}

// span is a duration of days as people say it.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return plural(int64(d/day), "day", "days")
	}
	return d.String()
}
