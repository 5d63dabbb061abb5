package conformance

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/window"
)

const (
	recordedToGroup = "recorded on AWS 2025-08-19 (LocalStack test_fifo_change_to_high_throughput_after_creation)"
	recordedToQueue = "recorded on AWS 2025-08-19 (LocalStack test_fifo_change_to_regular_throughput_after_creation)"
	recordedFixed   = "recorded on AWS 2024-05-14 (LocalStack test_set_unsupported_attribute_fifo)"
)

// perGroup is the throughput limit that goes with the scope messageGroup.
const perGroup = "perMessageGroupId"

// propagation is how long AWS allows a change of attributes to take (API reference,
// SetQueueAttributes: 60 s), and a little more.
const propagation = 65 * time.Second

func changeCases() []Case {
	return []Case{
		{
			ID: "scope/change/to-group", Level: Must, Source: recordedToGroup, Needs: Scope,
			Text:     "A queue made with the scope queue is switched to messageGroup and high throughput. The attributes read back changed at once, and deduplication goes on over the whole queue, for ids from before and for new ones. Who switches a live queue and trusts what reads back loses messages of a tenant.",
			Timeline: "0 s send A to group 1 · switch · read back · A to group 2 · B to group 3, B to group 4 · fence in all",
			Want:     "the attributes read back changed; no copy of an id in a second group",
			steps:    switchToGroup(0),
		},
		{
			ID: "scope/change/to-queue", Level: Should, Source: recordedToQueue, Needs: Scope,
			Text:     "A queue made with the scope messageGroup is switched back to queue. Right afterwards an id that two groups have had is still delivered in a third.",
			Timeline: "0 s send A to group 1, A to group 2 · switch · read back · A to group 3 · fence in all",
			Want:     "the attributes read back changed; one copy in the third group",
			steps:    switchToQueue,
		},
		{
			ID: "scope/change/to-group-settled", Level: Info, Source: unpublished, Needs: Scope, Wait: propagation,
			Text:     "The switch to messageGroup as in scope/change/to-group, with 65 seconds for it to spread: AWS gives changes of attributes 60. Nobody has published whether the new scope rules from then on. On our reference it never does.",
			Timeline: "0 s send A to group 1 · switch · 65 s A to group 2 · B to group 3, B to group 4 · fence in all",
			Want:     "no copy of an id in a second group: the scope stays as it was made",
			steps:    switchToGroup(propagation),
		},
		{
			ID: "scope/change/to-group-window-later", Level: Info, Source: unpublished, Needs: Scope, Wait: W + 10*time.Second,
			Text:     "The same a whole window after the switch, when no id from before is left: is a queue that was switched ever one of high throughput in its deduplication? On our reference it is not.",
			Timeline: "0 s switch · 310 s B to group 3, B to group 4 · fence in both",
			Want:     "no copy of an id in a second group: the scope stays as it was made",
			steps:    switchToGroup(W + 10*time.Second),
		},
		{
			ID: "scope/limit/needs-group-scope", Level: Info, Source: unpublished, Needs: Scope,
			Text:     "A queue with the limit perMessageGroupId and the scope queue is refused: high throughput needs ids that hold for a group. AWS documents the rule and not the code.",
			Timeline: "0 s make a queue with the limit perMessageGroupId and the scope queue",
			Want:     "refused with InvalidAttributeValue",
			steps: func(ctx context.Context, b *Bench) error {
				return b.refusalOf("making a queue with perMessageGroupId and the scope queue", invalidValue, func() error {
					_, err := b.tryQueue(ctx, b.nextName(), attributes{
						types.QueueAttributeNameDeduplicationScope:  window.ScopeQueue.String(),
						types.QueueAttributeNameFifoThroughputLimit: perGroup,
					})
					return err
				})
			},
		},
		{
			ID: "scope/limit/set-alone", Level: Info, Source: unpublished, Needs: Scope,
			Text:     "On a queue with the default scope the limit perMessageGroupId alone is refused: scope and limit have to be set in one call. AWS documents the rule and not the code.",
			Timeline: "0 s make a queue · set the limit perMessageGroupId alone · read back",
			Want:     "refused with InvalidAttributeValue, and the limit still reads perQueue",
			steps: refusedChange("setting perMessageGroupId alone",
				attributes{types.QueueAttributeNameFifoThroughputLimit: perGroup}, queueScope),
		},
		{
			ID: "scope/set/fifo-queue-false", Level: Must, Source: recordedFixed,
			Text:     "A FIFO queue cannot be turned into a standard one, for its users would lose order and deduplication without a word: FifoQueue=false is refused, and the queue stays what it is.",
			Timeline: "0 s make a queue · set FifoQueue=false · read back",
			Want:     "refused with InvalidAttributeValue, and FifoQueue still reads true",
			steps: refusedChange("setting FifoQueue=false",
				attributes{types.QueueAttributeNameFifoQueue: "false"}, attributes{types.QueueAttributeNameFifoQueue: enabled}),
		},
		{
			ID: "scope/set/fifo-queue-true", Level: Must, Source: recordedFixed,
			Text:     "FifoQueue=true, which says what is so already, is accepted: tools that set all attributes they know do that.",
			Timeline: "0 s make a queue · set FifoQueue=true · read back",
			Want:     accepted + ", and FifoQueue still reads true",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				fifo := attributes{types.QueueAttributeNameFifoQueue: enabled}
				if err := b.acceptance("setting FifoQueue=true", func() error { return q.set(ctx, fifo) }); err != nil {
					return err
				}
				return q.readsBack(ctx, fifo)
			},
		},
	}
}

// switchToGroup makes a queue with the scope queue, switches it to messageGroup, lets
// some time pass and sends ids to a second group each. An id from before the switch is
// part of it while its window is open.
func switchToGroup(after time.Duration) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, queueScope)
		if err != nil {
			return err
		}
		old := after < W
		if old {
			if err := q.claim(ctx, "before the switch, group 1", 1, q.sending(ctx, "g1", "A", order)); err != nil {
				return err
			}
		}
		if err := q.set(ctx, groupScope); err != nil {
			return err
		}
		if err := q.readsBack(ctx, groupScope); err != nil {
			return err
		}
		if after > 0 {
			if err := b.pass(ctx, after); err != nil {
				return err
			}
		}
		if old {
			if err := q.claim(ctx, "the id from before, group 2", 0, q.sending(ctx, "g2", "A", order)); err != nil {
				return err
			}
		}
		return q.claim(ctx, "a new id to groups 3 and 4", 1,
			q.oneByOne(ctx, message{"g3", "B", order}, message{"g4", "B", order})...)
	}
}

func switchToQueue(ctx context.Context, b *Bench) error {
	q, err := b.queue(ctx, groupScope)
	if err != nil {
		return err
	}
	err = q.claim(ctx, "before the switch, groups 1 and 2", 2,
		q.oneByOne(ctx, message{"g1", "A", order}, message{"g2", "A", order})...)
	if err != nil {
		return err
	}
	if err := q.set(ctx, queueScope); err != nil {
		return err
	}
	if err := q.readsBack(ctx, queueScope); err != nil {
		return err
	}
	return q.claim(ctx, "group 3", 1, q.sending(ctx, "g3", "A", order))
}

// refusedChange sets attributes that must not be set, and reads others back.
func refusedChange(what string, change, stays attributes) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		if err := b.refusalOf(what, invalidValue, func() error { return q.set(ctx, change) }); err != nil {
			return err
		}
		return q.readsBack(ctx, stays)
	}
}
