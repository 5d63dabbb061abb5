package telemetry

import (
	"context"
	"slices"
	"time"

	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// All tells several observers, in their order; an attempt's end goes round the other
// way. Nil ones are left out, and it is nil where none is left.
func All(observers ...consumer.Observer) consumer.Observer {
	var told all
	for _, o := range observers {
		if o != nil {
			told = append(told, o)
		}
	}
	switch len(told) {
	case 0:
		return nil
	case 1:
		return told[0]
	default:
		return told
	}
}

type all []consumer.Observer

func (a all) Received(deliveries []receipt.Delivery) {
	for _, o := range a {
		o.Received(deliveries)
	}
}

func (a all) Attempt(ctx context.Context, e handler.Event) (context.Context, func(receipt.Kind, error)) {
	ends := make([]func(receipt.Kind, error), len(a))
	for i, o := range a {
		ctx, ends[i] = o.Attempt(ctx, e) //nolint:fatcontext // one in the other, as many as there are observers
	}
	return ctx, func(kind receipt.Kind, err error) {
		for _, end := range slices.Backward(ends) {
			end(kind, err)
		}
	}
}

func (a all) Settled(d receipt.Delivery, kind receipt.Kind, repeats bool) {
	for _, o := range a {
		o.Settled(d, kind, repeats)
	}
}

func (a all) TookOver(d receipt.Delivery) {
	for _, o := range a {
		o.TookOver(d)
	}
}

func (a all) BackedOff(d receipt.Delivery, wait time.Duration) {
	for _, o := range a {
		o.BackedOff(d, wait)
	}
}

func (a all) Lanes(open, working int) {
	for _, o := range a {
		o.Lanes(open, working)
	}
}

func (a all) CallFailed(call string, err error) {
	for _, o := range a {
		o.CallFailed(call, err)
	}
}

func (a all) Ready(ready bool, why string) {
	for _, o := range a {
		o.Ready(ready, why)
	}
}

// deaf is an observer of nothing, for those that look at a part.
type deaf struct{}

func (deaf) Received([]receipt.Delivery)                  {}
func (deaf) Settled(receipt.Delivery, receipt.Kind, bool) {}
func (deaf) TookOver(receipt.Delivery)                    {}
func (deaf) BackedOff(receipt.Delivery, time.Duration)    {}
func (deaf) Lanes(int, int)                               {}
func (deaf) CallFailed(string, error)                     {}
func (deaf) Ready(bool, string)                           {}
