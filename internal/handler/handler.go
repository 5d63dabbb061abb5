package handler

import (
	"context"
	"errors"
	"time"

	"fifoproof/internal/receipt"
)

// Event is a message that has to be carried out.
type Event struct {
	receipt.Delivery

	Body string
	// Traceparent is the W3C trace context that the producer sent along; "" for none.
	Traceparent string
	// Attempt is the number of this go at the message, from 1.
	Attempt int
	// IdempotencyKey is the event's key as one text of 64 hexadecimal digits: the
	// SHA-256 of the encoded key. It is the same for every attempt and every repeat.
	IdempotencyKey string
}

// Handler is a [Transactional] or an [External] one, never both.
type Handler interface {
	// Name is how the handler was chosen on the command line, as "ledger" or "exec".
	Name() string
}

// Transactional carries the event out through tx alone. It may be called again
// where the database asks for the transaction to be repeated.
type Transactional interface {
	Handler
	Apply(ctx context.Context, tx receipt.Tx, e Event) error
}

// External carries the event out somewhere else, at least once. What it returns is
// kept with the key, at most [MaxResult] bytes of it, and told to repeats.
type External interface {
	Handler
	Call(ctx context.Context, e Event) (result string, err error)
}

// MaxResult is how much of a result is kept, in bytes.
const MaxResult = 1024

// Every error of a handler is a failed attempt that is made again after a back-off,
// unless it is, or wraps, one of these.
type (
	// RejectError says that the event can never be carried out.
	RejectError struct{ Err error }
	// RetryError says when to try again, at the earliest.
	RetryError struct {
		Err   error
		After time.Duration
	}
	// HaltError says that nothing can be carried out until somebody mends something
	// outside: the lane stops, and the consumer is not ready.
	HaltError struct{ Err error }
)

func (e *RejectError) Error() string { return e.Err.Error() }

func (e *RejectError) Unwrap() error { return e.Err }

func (e *RetryError) Error() string { return e.Err.Error() }

func (e *RetryError) Unwrap() error { return e.Err }

func (e *HaltError) Error() string { return e.Err.Error() }

func (e *HaltError) Unwrap() error { return e.Err }

// Rejected reports whether an error means that the event can never be carried out.
func Rejected(err error) bool {
	var rejection *RejectError
	return errors.As(err, &rejection)
}
