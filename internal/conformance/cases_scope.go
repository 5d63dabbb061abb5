package conformance

import "context"

func scopeCases() []Case {
	return []Case{
		{
			ID: "scope/queue/other-group", Level: Must, Source: recordedScope,
			Text: "On a queue with the deduplication scope queue, which is AWS's default, an id is known in all message groups: the same id in another group is a duplicate. Two tenants with equal bodies lose one.",
			Want: "no copy in the second group",
			steps: func(ctx context.Context, b *Bench) error {
				q, err := b.queue(ctx, plain)
				if err != nil {
					return err
				}
				if err := q.claim(ctx, "group 1", 1, q.sending(ctx, "g1", "id", order)); err != nil {
					return err
				}
				return q.claim(ctx, "group 2", 0, q.sending(ctx, "g2", "id", order))
			},
		},
		{
			ID: "scope/group/other-group", Level: Must, Source: createQueue, Needs: Scope,
			Text:  "On a queue with the deduplication scope messageGroup each group has ids of its own: the same id in another group is another message.",
			Want:  "one copy in each group",
			steps: inGroups("one id in two groups", 2, message{"g1", "id", order}, message{"g2", "id", order}),
		},
		{
			ID: "scope/group/interleaved", Level: Must, Source: createQueue, Needs: Scope,
			Text:  "One id to group 1, to group 2, and to group 1 again. The send to group 2 must not make the queue forget that group 1 had the id.",
			Want:  "two copies, one in each group",
			steps: inGroups("one id to groups 1, 2 and 1", 2, message{"g1", "id", order}, message{"g2", "id", order}, message{"g1", "id", order}),
		},
		{
			ID: "scope/group/delimiter", Level: Must, Source: createQueue, Needs: Scope,
			Text:  "Group a:b with id c, and group a with id b:c. Where an endpoint joins group and id with a colon, the two are one to it, and a message is lost.",
			Want:  "two copies",
			steps: inGroups("a:b with c, a with b:c", 2, message{"a:b", "c", order}, message{"a", "b:c", order}),
		},
	}
}

// inGroups sends messages one by one to a queue with the scope messageGroup.
func inGroups(what string, copies int, messages ...message) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		q, err := b.queue(ctx, groupScope)
		if err != nil {
			return err
		}
		var sends []func() error
		for _, m := range messages {
			sends = append(sends, q.sending(ctx, m.group, m.id, m.body))
		}
		return q.claim(ctx, what, copies, sends...)
	}
}
