package conformance

import (
	"context"
	"fmt"
)

// settle sends a fence into each group and polls until all of them have come, then
// once more, since a late message would come behind its fence. A FIFO queue gives
// a group's messages out in order, so what had been accepted before the fence has
// come before it.
func (q *queue) settle(ctx context.Context) (bool, error) {
	b := q.bench
	awaited := map[string]bool{}
	for _, group := range q.groups {
		b.fences++
		body := fmt.Sprintf(`{"fence":"%s-%d"}`, b.name, b.fences)
		b.wire.fence(body)
		awaited[digestOf(body)] = true
		if err := q.sendFence(ctx, group, body); err != nil {
			return false, err
		}
	}
	came := len(b.wire.seen(q.url))
	for polls := 0; len(awaited) > 0; polls++ {
		if polls == fencePolls {
			return false, nil
		}
		if err := q.poll(ctx); err != nil {
			return false, err
		}
		if now := len(b.wire.seen(q.url)); now > came {
			came, polls = now, 0 // something comes, if one at a time
		}
		for _, d := range b.wire.seen(q.url) {
			delete(awaited, d.BodyDigest)
		}
	}
	return true, q.poll(ctx)
}

func (q *queue) sendFence(ctx context.Context, group, body string) error {
	if q.users != nil {
		return q.users.send(ctx, body)
	}
	_, err := q.send(ctx, group, "fence-"+digestOf(body), body)
	return err
}

// lastReceive looks once more into the queue before it is deleted: what comes now
// counts too.
func (q *queue) lastReceive(ctx context.Context) error {
	messages, err := q.receive(ctx)
	if err != nil {
		return err
	}
	return q.remove(ctx, messages)
}
