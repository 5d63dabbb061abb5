package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
)

const (
	// burst is how many sends are made, ten seconds' worth of a FIFO queue's 300 a
	// second (SQS developer guide, quotas).
	burst = 3000
	// abreast is how many of them are under way at once.
	abreast = 64
)

// notThrottled is what the burst comes to where nobody objects.
const notThrottled = "none was throttled"

// throttled sends a burst and notes the first answer that asks for patience.
func throttled(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	once, cancel := context.WithCancel(withoutPatience(ctx))
	defer cancel()
	var first sync.Once
	var fatal error
	var sent atomic.Int64
	seen := notThrottled
	var all sync.WaitGroup
	for range abreast {
		all.Go(func() {
			for n := sent.Add(1); n <= burst && once.Err() == nil; n = sent.Add(1) {
				err := q.trying(once, of(fmt.Sprintf("id-%d", n), withGroup(fmt.Sprintf("g%d", n%10))))()
				if err == nil || once.Err() != nil {
					continue
				}
				first.Do(func() {
					var answered smithy.APIError
					if errors.As(err, &answered) && awserr.Throttled(answered.ErrorCode()) {
						seen = fmt.Sprintf("%s, status %d", answered.ErrorCode(), statusOf(err))
					} else {
						fatal = fmt.Errorf("sending a burst: %w", awserr.Brief(err))
					}
					cancel()
				})
			}
		})
	}
	all.Wait()
	if err := errors.Join(ctx.Err(), fatal); err != nil {
		return err
	}
	b.answer("the first answer that asks for patience", notThrottled, seen)
	return nil
}
