package consumer

import (
	"context"
	"time"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// Observer is told what happens, as it happens: for metrics and traces. Its methods
// are called concurrently and must not block.
type Observer interface {
	// Received is called when the deliveries of a reply are on record; a reply may have
	// brought none.
	Received(deliveries []receipt.Delivery)
	// Attempt is called before a handler runs, which is given the context that it
	// returns. end is called with what became of the attempt, and the handler's error.
	Attempt(ctx context.Context, e handler.Event) (inner context.Context, end func(kind receipt.Kind, err error))
	// Settled is called once for every delivery with what it came to. Failed and
	// Pending ones come again.
	Settled(d receipt.Delivery, kind receipt.Kind, repeats bool)
	// TookOver is called when the lease of a worker that did not end it was taken over.
	TookOver(d receipt.Delivery)
	// BackedOff is called when a failed message is hidden until its next attempt.
	BackedOff(d receipt.Delivery, wait time.Duration)
	// Lanes tells how many groups have messages in hand, and how many are at work.
	Lanes(open, working int)
	// CallFailed is called when a call failed and is made again: "receive", "delete",
	// "visibility" or "store".
	CallFailed(call string, err error)
	// Ready tells whether work can be done; why not, in a sentence.
	Ready(ready bool, why string)
}

// silent is the observer where none is configured.
type silent struct{}

func (silent) Received([]receipt.Delivery) {}

func (silent) Attempt(ctx context.Context, _ handler.Event) (context.Context, func(receipt.Kind, error)) {
	return ctx, func(receipt.Kind, error) {}
}

func (silent) Settled(receipt.Delivery, receipt.Kind, bool) {}
func (silent) TookOver(receipt.Delivery)                    {}
func (silent) BackedOff(receipt.Delivery, time.Duration)    {}
func (silent) Lanes(int, int)                               {}
func (silent) CallFailed(string, error)                     {}
func (silent) Ready(bool, string)                           {}
