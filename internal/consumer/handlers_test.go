package consumer_test

import (
	"context"
	"math/rand/v2"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// inside is a handler that gets the transaction.
type inside func(ctx context.Context, tx receipt.Tx, e handler.Event) error

func (inside) Name() string { return "inside" }

func (f inside) Apply(ctx context.Context, tx receipt.Tx, e handler.Event) error {
	return f(ctx, tx, e)
}

// outside is a handler that reaches outside.
type outside func(ctx context.Context, e handler.Event) (string, error)

func (outside) Name() string { return "outside" }

func (f outside) Call(ctx context.Context, e handler.Event) (string, error) { return f(ctx, e) }

// both is no handler that can be used.
type both struct {
	inside
	outside
}

func (both) Name() string { return "both" }
