package conformance

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/window"
)

const (
	sendGroup        = "SQS API reference, SendMessage, MessageGroupId"
	recordedDefaults = "recorded on AWS 2025-08-19 (LocalStack, all attributes of a FIFO queue)"
	recordedNoLimit  = "recorded on AWS 2024-05-24 (LocalStack test_sqs_fifo_message_group_scope_no_throughput_setting)"
	recordedContent  = "recorded on AWS 2024-04-30 (LocalStack test_fifo_deduplication_not_on_message_group_id)"
)

func scopeCases() []Case {
	return slices.Concat(queueScopeCases(), groupScopeCases(), groupAgainCases(), changeCases())
}

func queueScopeCases() []Case {
	return []Case{
		{
			ID: "scope/queue/other-group", Level: Must, Source: recordedScope,
			Text:     "On a queue with the deduplication scope queue, which is AWS's default, an id is known in all message groups: the same id in another group is a duplicate. Two tenants with equal bodies lose one.",
			Timeline: "0 s send A to group 1 · fence · send A to group 2 · fence in both",
			Want:     "no copy in the second group",
			steps:    otherGroup(plain, "id"),
		},
		{
			ID: "scope/queue/content", Level: Must, Source: recordedContent,
			Text:     "The same with ids that the queue makes from the content: two tenants send one body each to a group of their own, and one of them is lost. Whoever shares a queue among tenants has to know it.",
			Timeline: "0 s send a body to group 1 · fence · the same body to group 2 · fence in both",
			Want:     "no copy in the second group",
			steps:    otherGroup(contentBased, ""),
		},
		{
			ID: "scope/queue/two-queues", Level: Must, Source: exactlyOnce,
			Text:     "One id to two queues: each queue has a memory of its own, so both deliver it. A fan-out that sends one event to several queues rests on that.",
			Timeline: "0 s send A to queue 1 · fence · send A to queue 2 · fence",
			Want:     "one copy on each queue",
			steps:    twoQueues,
		},
		{
			ID: "scope/queue/defaults-read-back", Level: Must, Source: recordedDefaults, Needs: Scope,
			Text:     "A FIFO queue that is made without a word about it has the deduplication scope queue and the throughput limit perQueue, and says so. Terraform and its like compare what reads back with what they know as the default.",
			Timeline: "0 s make the queue · read its attributes",
			Want:     "DeduplicationScope is queue, FifoThroughputLimit is perQueue",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				return q.readsBack(ctx, queueScope)
			},
		},
	}
}

// queueScope is the default.
var queueScope = attributes{
	types.QueueAttributeNameDeduplicationScope:  window.ScopeQueue.String(),
	types.QueueAttributeNameFifoThroughputLimit: "perQueue",
}

// otherGroup sends one body to one group and then to another, on a queue whose ids hold
// for all groups. Without an id the queue makes it.
func otherGroup(made attributes, id string) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, made)
		if err != nil {
			return err
		}
		if err := q.claim(ctx, "group 1", 1, q.sending(ctx, "g1", id, order)); err != nil {
			return err
		}
		return q.claim(ctx, "group 2", 0, q.sending(ctx, "g2", id, order))
	}
}

func twoQueues(ctx context.Context, b *Bench) error {
	for _, what := range []string{"queue 1", "queue 2"} {
		q, err := b.queue(ctx, plain)
		if err != nil {
			return err
		}
		if err := q.claim(ctx, what, 1, q.sending(ctx, "g", "id", order)); err != nil {
			return err
		}
	}
	return nil
}

func groupScopeCases() []Case {
	long := strings.Repeat("g", 127)
	return []Case{
		{
			ID: "scope/group/other-group", Level: Must, Source: createQueue, Needs: Scope,
			Text:     "On a queue with the deduplication scope messageGroup each group has ids of its own: the same id in another group is another message.",
			Timeline: "0 s send A to group 1, A to group 2 · fence in both",
			Want:     "one copy in each group",
			steps:    inGroups("one id in two groups", 2, message{"g1", "id", order}, message{"g2", "id", order}),
		},
		{
			ID: "scope/group/interleaved", Level: Must, Source: createQueue, Needs: Scope,
			Text:     "One id to group 1, to group 2, and to group 1 again. The send to group 2 must not make the queue forget that group 1 had the id.",
			Timeline: "0 s send A to group 1, A to group 2, A to group 1 · fence in both",
			Want:     oneInEachGroup,
			steps:    inGroups("one id to groups 1, 2 and 1", 2, message{"g1", "id", order}, message{"g2", "id", order}, message{"g1", "id", order}),
		},
		{
			ID: "scope/group/delimiter", Level: Must, Source: createQueue, Needs: Scope,
			Text:     "Group a:b with id c, and group a with id b:c. Where an endpoint joins group and id with a colon, the two are one to it, and a message is lost.",
			Timeline: "0 s send c to group a:b, b:c to group a · fence in both",
			Want:     twoCopies,
			steps:    inGroups("a:b with c, a with b:c", 2, message{"a:b", "c", order}, message{"a", "b:c", order}),
		},
		{
			ID: "scope/group/content", Level: Must, Source: recordedNoLimit, Needs: Scope,
			Text:     "With ids made from the content and the scope messageGroup, equal bodies of two tenants are two messages, and a tenant's own repeat is still a duplicate.",
			Timeline: "0 s send a body to group 1, to group 2, to group 1 again · fence in both",
			Want:     oneInEachGroup,
			steps: onQueue(attributes{
				types.QueueAttributeNameContentBasedDeduplication: enabled,
				types.QueueAttributeNameDeduplicationScope:        window.ScopeGroup.String(),
				types.QueueAttributeNameFifoThroughputLimit:       perGroup,
			}, "one body to groups 1, 2 and 1", 2, message{"g1", "", order}, message{"g2", "", order}, message{"g1", "", order}),
		},
		{
			ID: "scope/group/per-queue-limit", Level: Must, Source: recordedNoLimit, Needs: Scope,
			Text:     "The scope messageGroup without high throughput (limit perQueue) is allowed, and ids hold for their group all the same: scope and throughput are two settings.",
			Timeline: "0 s send A to group 1, A to group 2, A to group 1 · fence in both",
			Want:     oneInEachGroup,
			steps: onQueue(attributes{
				types.QueueAttributeNameDeduplicationScope:  window.ScopeGroup.String(),
				types.QueueAttributeNameFifoThroughputLimit: "perQueue",
			}, "one id to groups 1, 2 and 1", 2, message{"g1", "id", order}, message{"g2", "id", order}, message{"g1", "id", order}),
		},
		{
			ID: "scope/group/long-names", Level: Must, Source: sendGroup, Needs: Scope,
			Text:     "Two groups with names of 128 characters, the longest allowed, that differ in the last one. An endpoint that cuts names makes two tenants one, and loses a message.",
			Timeline: "0 s send A to group g…1, A to group g…2 · fence in both",
			Want:     oneInEachGroup,
			steps:    inGroups("one id in two groups with long names", 2, message{long + "1", "id", order}, message{long + "2", "id", order}),
		},
		{
			ID: "scope/group/punctuation", Level: Must, Source: sendGroup, Needs: Scope,
			Text:     "A group name may have every punctuation character of ASCII. One that has them all keeps ids of its own beside one that lacks the last.",
			Timeline: "0 s send A to the one group, A to the other, A to the one again · fence in both",
			Want:     oneInEachGroup,
			steps: inGroups("one id in two groups named with punctuation", 2,
				message{punctuation, "id", order}, message{punctuation[:len(punctuation)-1], "id", order}, message{punctuation, "id", order}),
		},
		{
			ID: "scope/group/case", Level: Info, Source: unpublished, Needs: Scope,
			Text:     "Groups Tenant and tenant, one id. AWS does not say whether group names know upper and lower case; our reference tells them apart.",
			Timeline: "0 s send A to group Tenant, A to group tenant · fence in both",
			Want:     "two copies: names of groups know upper and lower case",
			steps:    inGroups("one id in groups Tenant and tenant", 2, message{"Tenant", "id", order}, message{"tenant", "id", order}),
		},
	}
}

func groupAgainCases() []Case {
	return againCases("scope/group", "send one id to two groups", "Each group's id has a window of its own, as long as any other.", Scope, again{
		made: groupScope, copies: 2,
		sends: func(ctx context.Context, q *queue) []func() error {
			return q.oneByOne(ctx, message{"g1", "id", order}, message{"g2", "id", order})
		},
	})
}

// punctuation is all of ASCII's, which ids and group names may have.
const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// inGroups sends messages one by one to a queue with the scope messageGroup.
func inGroups(what string, copies int, messages ...message) func(context.Context, *Bench) error {
	return onQueue(groupScope, what, copies, messages...)
}

// onQueue sends messages one by one to a queue with these attributes.
func onQueue(made attributes, what string, copies int, messages ...message) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, made)
		if err != nil {
			return err
		}
		return q.claim(ctx, what, copies, q.oneByOne(ctx, messages...)...)
	}
}

// oneByOne are sends of messages, a call each.
func (q *queue) oneByOne(ctx context.Context, messages ...message) []func() error {
	var sends []func() error
	for _, m := range messages {
		sends = append(sends, q.sending(ctx, m.group, m.id, m.body))
	}
	return sends
}
