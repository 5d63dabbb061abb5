package conformance

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

func validateQueueCases() []Case {
	const created = "0 s create a right queue · create the wrong one"
	return []Case{
		{
			ID: "validate/queue-name/no-suffix", Level: Must, Source: queueNames,
			Text:     "A FIFO queue whose name does not end in .fifo is refused.",
			Timeline: created, Want: wantInvalid,
			steps: refusedQueue("creating it", invalidParameter, fifoAttribute, func(name string) string { return strings.TrimSuffix(name, suffix) }),
		},
		{
			ID: "validate/queue-name/no-attribute", Level: Must, Source: queueNames,
			Text:     "A name that ends in .fifo without FifoQueue set to true: the queue would be a standard one, and those have no period in their names. An endpoint that makes a FIFO queue of it hides a forgotten attribute.",
			Timeline: created, Want: wantInvalid,
			steps: refusedQueue("creating it", invalidParameter, nil, func(name string) string { return strings.TrimSuffix(name, suffix) + "-n" + suffix }),
		},
		{
			ID: "validate/queue-name/too-long", Level: Must, Source: queueNames,
			Text:     "A name of 81 characters, suffix and all, is one too long.",
			Timeline: created, Want: wantInvalid,
			steps: refusedQueue("creating it", invalidParameter, fifoAttribute, func(name string) string {
				const most = 80
				stem := strings.TrimSuffix(name, suffix)
				return stem + strings.Repeat("n", most+1-len(name)) + suffix
			}),
		},
		{
			ID: "validate/queue-name/character", Level: Must, Source: queueNames,
			Text:     "A name with a character that is no letter, digit, hyphen or underscore.",
			Timeline: created, Want: wantInvalid,
			steps: refusedQueue("creating it", invalidParameter, fifoAttribute, func(name string) string { return strings.TrimSuffix(name, suffix) + "+n" + suffix }),
		},
		{
			ID: "validate/queue/unknown", Level: Must, Source: unknownQueue,
			Text:     "A send to a queue that was never made, a receive from it and a look-up of its URL: all of them name the queue as unknown. Who retries that code waits for ever.",
			Timeline: "0 s send · receive · look up", Want: "refused with AWS.SimpleQueueService.NonExistentQueue",
			steps: unknown,
		},
		{
			ID: "validate/queue/same-again", Level: Must, Source: recordedQueue,
			Text:     "A queue is created again with equal attributes, and again with some of them left out: both answer the URL of the one that is there. Services that create their queues when they start rely on it.",
			Timeline: "0 s create · create again · create again without the visibility timeout", Want: "the same URL twice",
			steps: sameAgain,
		},
		{
			ID: "validate/queue/different-again", Level: Must, Source: recordedQueue,
			Text:     "A queue is created again with another visibility timeout: refused, for it is there with the old one.",
			Timeline: "0 s create · create again with another visibility timeout", Want: "refused with QueueAlreadyExists",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				again := q.made()
				again[string(types.QueueAttributeNameVisibilityTimeout)] = "31"
				return b.refusalOf("creating it again", queueExists, func() error { _, err := b.create(ctx, q.name, again); return err })
			},
		},
		{
			ID: "validate/queue/deleted-recently", Level: Should, Source: deletedQueue,
			Text:     "A queue is deleted and created again at once. AWS asks for sixty seconds in between, and may refuse before.",
			Timeline: "0 s create · delete · create again", Want: "refused with AWS.SimpleQueueService.QueueDeletedRecently",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if err := q.drop(ctx); err != nil {
					return err
				}
				return b.refusalOf("creating it again", deletedRecently, b.creating(ctx, q.name, q.made()))
			},
		},
		{
			ID: "validate/attribute/out-of-range", Level: Must, Source: queueAttributes,
			Text:     "A visibility timeout above twelve hours, a retention under a minute, a delay above fifteen minutes and a message size under 1,024 bytes are refused, not cut.",
			Timeline: "0 s set each of them", Want: "each refused with InvalidAttributeValue",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				outside := attributes{
					types.QueueAttributeNameVisibilityTimeout: "43201", types.QueueAttributeNameMessageRetentionPeriod: "59",
					types.QueueAttributeNameDelaySeconds: "901", types.QueueAttributeNameMaximumMessageSize: "1023",
				}
				for _, name := range slices.Sorted(maps.Keys(outside)) {
					set := attributes{name: outside[name]}
					if err := b.refusalOf(describe(set), invalidValue, func() error { return q.set(ctx, set) }); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			ID: "validate/attribute/unknown", Level: Must, Source: "SQS API model, InvalidAttributeName",
			Text:     "An attribute that no queue has is refused. An endpoint that ignores it hides a slip of the pen in somebody's configuration.",
			Timeline: "0 s set it", Want: "refused with InvalidAttributeName",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				return b.refusalOf("setting it", invalidName, func() error { return q.set(ctx, attributes{"DeduplicationWindow": "300"}) })
			},
		},
		{
			ID: "validate/purge/twice", Level: Must, Source: recordedPurge,
			Text:     "A queue is purged twice within a minute. The second call is refused, with status 403.",
			Timeline: "0 s purge · purge again", Want: "refused with AWS.SimpleQueueService.PurgeQueueInProgress, status 403",
			steps: purgeTwice,
		},
		{
			ID: "validate/redrive/count-out-of-range", Level: Must, Source: redriveReference, Needs: Redrive,
			Text:     "A redrive policy that would move a message after no receive at all, and one after 1,001: the count is from 1 to 1,000.",
			Timeline: "0 s set a policy with 0 · set one with 1,001 · set one with 1,000", Want: "both refused",
			steps: countOutOfRange,
		},
		{
			ID: "validate/redrive/unknown-target", Level: Should, Source: redriveReference, Needs: Redrive,
			Text:     "A redrive policy that names a queue which does not exist. Taken without a word, messages would fail for ever and never arrive anywhere.",
			Timeline: "0 s set a policy", Want: "refused",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				arn, err := q.arn(ctx)
				if err != nil {
					return err
				}
				missing := strings.TrimSuffix(arn, suffix) + "-none" + suffix
				return b.refusalOf("setting it", anyCode, func() error { return q.set(ctx, redrivePolicy(missing, 3)) })
			},
		},
	}
}

// suffix ends the name of every FIFO queue.
const suffix = ".fifo"

var fifoAttribute = map[string]string{string(types.QueueAttributeNameFifoQueue): strconv.FormatBool(true)}

// made are the attributes with which a queue under test was made.
func (q *queue) made() map[string]string {
	set := maps.Clone(fifoAttribute)
	set[string(types.QueueAttributeNameVisibilityTimeout)] = strconv.Itoa(int(visibility / time.Second))
	return set
}

// create asks for a queue of the name.
func (b *Bench) create(ctx context.Context, name string, set map[string]string) (url string, err error) {
	made, err := b.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: set, Tags: b.setup.Tags()})
	if err != nil {
		return "", err
	}
	return aws.ToString(made.QueueUrl), nil
}

// creating asks for a queue that should be refused; one that is made is cleaned away
// with the others.
func (b *Bench) creating(ctx context.Context, name string, set map[string]string) func() error {
	return func() error {
		url, err := b.create(ctx, name, set)
		if err == nil {
			b.queues = append(b.queues, &queue{bench: b, name: name, url: url})
		}
		return err
	}
}

// refusedQueue asks for a queue of a name that cannot be, after one that can.
func refusedQueue(what string, code codes, set map[string]string, rename func(string) string) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		return b.refusalOf(what, code, b.creating(ctx, rename(q.name), set))
	}
}

func unknown(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	rename := func(s string) string { return strings.TrimSuffix(s, suffix) + "-none" + suffix }
	none := &queue{bench: b, name: rename(q.name), url: rename(q.url)}
	if err := b.refusalOf("the send", noSuchQueue, none.trying(ctx, of("id", withBody(order)))); err != nil {
		return err
	}
	err = b.refusalOf("the receive", noSuchQueue, func() error { _, err := none.receive(ctx); return err })
	if err != nil {
		return err
	}
	return b.refusalOf("the look-up", noSuchQueue, func() error {
		_, err := b.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &none.name})
		return err
	})
}

func sameAgain(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what string
		set  map[string]string
	}{{"created again with equal attributes", q.made()}, {"created again with fewer attributes", fifoAttribute}} {
		url, err := b.create(ctx, q.name, c.set)
		seen := "the same URL"
		switch code := refused(err); {
		case code != "":
			seen = "refused with " + code
		case err != nil:
			return fmt.Errorf("creating %s again: %w", q.name, awserr.Brief(err))
		case url != q.url:
			seen = "another URL"
		}
		b.answer(c.what, "the same URL", seen)
	}
	return nil
}

func purgeTwice(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	purge := func() error {
		_, err := b.client.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &q.url})
		return err
	}
	if err := purge(); err != nil {
		return unless(err, "the first purge was refused")
	}
	var status int
	err = b.refusalOf("the second purge", purgeInProgress, func() error {
		err := purge()
		status = statusOf(err)
		return err
	})
	if err != nil {
		return err
	}
	b.answer("its status", strconv.Itoa(http.StatusForbidden), strconv.Itoa(max(status, http.StatusOK)))
	return nil
}

func countOutOfRange(ctx context.Context, b *Bench) error {
	dead, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	q, err := b.queue(ctx, plain)
	if err != nil {
		return err
	}
	arn, err := dead.arn(ctx)
	if err != nil {
		return err
	}
	for _, count := range []int{0, 1001} {
		policy := redrivePolicy(arn, count)
		what := fmt.Sprintf("a policy with the count %d", count)
		if err := b.refusalOf(what, anyCode, func() error { return q.set(ctx, policy) }); err != nil {
			return err
		}
	}
	if err := q.set(ctx, redrivePolicy(arn, 1000)); err != nil {
		return unless(err, "a policy with the count 1000 was refused too")
	}
	return nil
}
