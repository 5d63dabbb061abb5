package consumer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
)

const (
	// Failing calls are tried again after 0.5, 1, 2 ... 20 s, and given up after
	// ten in a row, a minute and a half: what lasts longer is for whoever runs the
	// program. (The SDK has made attempts of its own before.)
	firstPause = 500 * time.Millisecond
	lastPause  = 20 * time.Second
	maxFailing = 10

	// hasty is the pause after a poll that ended before its time without progress:
	// an endpoint without long polls, a clock that is moved by hand, or a rejected
	// message on a queue with a visibility timeout of zero.
	hasty = 100 * time.Millisecond
)

// Run polls until ctx ends or, with UntilEmpty, until so much time has passed
// without progress. Both are a good end: the summary comes without an error.
//
// Errors: the queue does not exist or may not be read; a store that cannot record
// deliveries; ten failing polls in a row; and, at the end of UntilEmpty, messages
// that could not be completed.
func (c *Consumer) Run(ctx context.Context) (Summary, error) {
	defer c.warn.flush()
	err := c.run(ctx)
	return c.summary, err
}

func (c *Consumer) run(ctx context.Context) error {
	quiet := c.cfg.Clock.Now() // when progress was last made
	failing := 0
	for ctx.Err() == nil {
		asked := c.cfg.Clock.Now()
		received, progress, err := c.round(ctx)
		now := c.cfg.Clock.Now()
		if progress {
			quiet = now
		}
		var rest time.Duration
		switch {
		case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return nil
		case err != nil && permanent(err):
			return err
		case err != nil:
			failing++
			if failing == maxFailing {
				return fmt.Errorf("giving up after %d failing polls in a row: %w", failing, err)
			}
			rest = min(firstPause<<(failing-1), lastPause)
			if received == 0 {
				c.warn.retrying(err, rest)
				quiet = now.Add(rest) // an outage is no silence
			}
		case !progress && now.Sub(asked) < c.cfg.Wait/2:
			rest = hasty
			fallthrough
		default:
			// An empty queue says nothing of a store that failed before.
			if received > 0 || len(c.failed) == 0 {
				failing = 0
			}
		}
		if c.pause(ctx, rest) != nil {
			return nil //nolint:nilerr // the context has ended, which is a good end
		}
		if c.cfg.UntilEmpty > 0 && c.cfg.Clock.Now().Sub(quiet) >= c.cfg.UntilEmpty {
			return c.unfinished()
		}
	}
	return nil
}

func (c *Consumer) round(ctx context.Context) (received int, progress bool, err error) {
	reply, err := c.receive(ctx)
	if err != nil || len(reply) == 0 {
		return 0, false, err
	}
	progress, err = c.work(ctx, reply)
	if c.cfg.Progress != nil {
		c.cfg.Progress(c.summary)
	}
	return len(reply), progress, err
}

// unfinished is the error that says what was left undone.
func (c *Consumer) unfinished() error {
	for _, err := range c.failed {
		return fmt.Errorf("%d messages of the queue %s could not be completed, one of them: %w", len(c.failed), c.name, err)
	}
	return nil
}

// refusals are error codes that no waiting cures (Amazon SQS API reference, common
// errors; AWS STS and KMS codes as SQS passes them on).
var refusals = map[string]bool{
	"AWS.SimpleQueueService.NonExistentQueue": true,
	"QueueDoesNotExist":                       true,
	"AccessDenied":                            true,
	"AccessDeniedException":                   true,
	"InvalidAddress":                          true,
	"InvalidClientTokenId":                    true,
	"InvalidSecurity":                         true,
	"KmsAccessDenied":                         true,
	"KmsDisabled":                             true,
	"KmsNotFound":                             true,
	"MissingAuthenticationToken":              true,
	"NotAuthorized":                           true,
	"OptInRequired":                           true,
	"SignatureDoesNotMatch":                   true,
	"UnrecognizedClientException":             true,
	"UnsupportedOperation":                    true,
}

// permanent reports whether polling again cannot help. Throttling, expired
// credentials, broken connections and the service's own failures pass.
func permanent(err error) bool {
	var store *storeError
	var missing *types.QueueDoesNotExist
	if errors.As(err, &store) || errors.As(err, &missing) {
		return true
	}
	var answer smithy.APIError
	return errors.As(err, &answer) && refusals[awserr.Name(answer.ErrorCode())]
}
