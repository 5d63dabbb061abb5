package deadletter

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
)

// hand holds messages: they are in flight, hidden from everybody else, until they are
// deleted or given back. Nothing of it runs by itself: whoever uses it calls keep
// between two other calls, each of which lasts a quarter of the visibility at most
// (see bounded), and so nothing expires in the hand.
type hand struct {
	*Letters

	held  map[string]*grip // by MessageId
	takes int              // messages received so far
	due   time.Time        // when the first one has to be renewed
	pace  time.Duration    // of the slowest call so far
}

// grip is the hold on one message.
type grip struct {
	id, handle string
	order      int // of its receive
	until      time.Time
}

func (l *Letters) newHand() *hand { return &hand{Letters: l, held: map[string]*grip{}} }

// room reports whether ten more can be held: they have to be renewed too, and all that is
// held in the quarter of the visibility that keep leaves for it.
func (h *hand) room() bool {
	calls := (len(h.held)+batch-1)/batch + 1
	return len(h.held)+batch <= h.cfg.MaxHeld && time.Duration(calls)*h.pace <= h.cfg.Visibility/4
}

// bounded ends one call before what is in the hand could expire.
func (l *Letters) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, l.cfg.Visibility/4)
}

// take receives up to ten messages and holds them, and waits so many seconds for the
// first. One that is held already, and that
// came all the same, is among them under its new handle.
func (h *hand) take(ctx context.Context, wait int32) ([]types.Message, error) {
	if err := h.keep(ctx); err != nil {
		return nil, err
	}
	bounded, cancel := h.bounded(ctx)
	defer cancel()
	began := h.cfg.Clock.Now()
	out, err := h.queue.ReceiveMessage(bounded, &sqs.ReceiveMessageInput{
		QueueUrl:                    &h.cfg.URL,
		MaxNumberOfMessages:         batch,
		VisibilityTimeout:           int32(h.cfg.Visibility / time.Second),
		WaitTimeSeconds:             wait,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       []string{"All"},
		// Where the reply is lost, the SDK's retry is given the same messages.
		ReceiveRequestAttemptId: aws.String(rand.Text()),
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("receiving from the queue %s: %w", h.name, awserr.Brief(err))
	}
	if len(out.Messages) > 0 { // an empty one waited
		h.pace = max(h.pace, h.cfg.Clock.Now().Sub(began))
	}
	for _, m := range out.Messages {
		h.takes++
		id := aws.ToString(m.MessageId)
		h.held[id] = &grip{id: id, handle: aws.ToString(m.ReceiptHandle), order: h.takes, until: began.Add(h.cfg.Visibility)}
	}
	h.schedule()
	return out.Messages, nil
}

// keep renews what would expire within half of the visibility. What cannot be renewed
// is lost from the hand: the queue gives it out again. The only error is ctx's.
func (h *hand) keep(ctx context.Context) error {
	if len(h.held) == 0 || h.cfg.Clock.Now().Before(h.due) {
		return ctx.Err()
	}
	var due []*grip
	for _, g := range h.grips() {
		if h.cfg.Clock.Now().Before(g.until.Add(-h.cfg.Visibility / 2)) {
			continue
		}
		due = append(due, g)
	}
	for part := range slices.Chunk(due, batch) {
		began := h.cfg.Clock.Now()
		lost, err := h.hide(ctx, part, h.cfg.Visibility)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			h.cfg.Logger.Warn("messages that are looked at could not be hidden any longer", slog.String("queue", h.name), slog.Any("error", err))
		}
		for _, g := range part {
			switch {
			case slices.Contains(lost, g), err != nil && !began.Before(g.until):
				delete(h.held, g.id)
			case err == nil:
				g.until = began.Add(h.cfg.Visibility)
			}
		}
	}
	h.schedule()
	return ctx.Err()
}

// schedule says when keep has something to do.
func (h *hand) schedule() {
	h.due = h.cfg.Clock.Now().Add(h.cfg.Visibility)
	for _, g := range h.held {
		if at := g.until.Add(-h.cfg.Visibility / 2); at.Before(h.due) {
			h.due = at
		}
	}
}

// holds reports whether a message of a reply is still held.
func (h *hand) holds(m types.Message) bool { return h.held[aws.ToString(m.MessageId)] != nil }

// forget lets go of a message that is deleted, or that is held no more.
func (h *hand) forget(id string) { delete(h.held, id) }

// release gives messages back now, the last first, so that nobody can receive a group
// out of order.
func (h *hand) release(ctx context.Context, ids ...string) error {
	var back []*grip
	for _, id := range ids {
		if g := h.held[id]; g != nil {
			back = append(back, g)
			delete(h.held, id)
		}
	}
	slices.SortFunc(back, func(a, b *grip) int { return cmp.Compare(b.order, a.order) })
	var failed error
	for part := range slices.Chunk(back, batch) {
		// What has expired is back already.
		if _, err := h.hide(ctx, part, 0); err != nil {
			failed = err
		}
	}
	return failed
}

// giveBack gives everything back, also where ctx has ended.
func (h *hand) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.cfg.Visibility)
	defer cancel()
	if err := h.release(ctx, slices.Collect(maps.Keys(h.held))...); err != nil {
		h.cfg.Logger.Warn("messages could not be given back; they are visible again by themselves", slog.String("queue", h.name),
			slog.Duration("within", h.cfg.Visibility), slog.Any("error", err))
	}
}

// grips are what is held, in the order of receives.
func (h *hand) grips() []*grip {
	return slices.SortedFunc(maps.Values(h.held), func(a, b *grip) int { return cmp.Compare(a.order, b.order) })
}

// hide lets up to ten messages come back after d, 0 being now. lost are those that
// the queue says are not held any more.
func (h *hand) hide(ctx context.Context, grips []*grip, d time.Duration) (lost []*grip, err error) {
	entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, len(grips))
	for i, g := range grips {
		entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &g.handle, VisibilityTimeout: int32(d / time.Second),
		}
	}
	bounded, cancel := h.bounded(ctx)
	defer cancel()
	began := h.cfg.Clock.Now()
	out, err := h.queue.ChangeMessageVisibilityBatch(bounded, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &h.cfg.URL, Entries: entries})
	if err != nil {
		return nil, fmt.Errorf("changing the visibility of %d messages of the queue %s: %w", len(grips), h.name, awserr.Brief(err))
	}
	h.pace = max(h.pace, h.cfg.Clock.Now().Sub(began))
	for _, f := range out.Failed {
		if i, err := strconv.Atoi(aws.ToString(f.Id)); err == nil && i >= 0 && i < len(grips) {
			lost = append(lost, grips[i])
		}
	}
	return lost, nil
}
