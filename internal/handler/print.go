package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Print writes every event as one line of JSON.
type Print struct {
	mu  sync.Mutex
	out io.Writer
}

// NewPrint returns a Print on a writer, which gets one Write a line, and a Flush
// after it where it has one.
func NewPrint(out io.Writer) (*Print, error) {
	if out == nil {
		return nil, errors.New("the handler print has nothing to print on")
	}
	return &Print{out: out}, nil
}

// Name is "print".
func (*Print) Name() string { return namePrint }

// Describe says what can be relied on.
func (*Print) Describe() string {
	return "at least once: a process may die between the line and the note that it was printed; a line that comes again has the same idempotency_key"
}

// printed is a line.
type printed struct {
	MessageID      string `json:"message_id"`
	Group          string `json:"group,omitempty"`
	SequenceNumber string `json:"sequence_number,omitempty"`
	IdempotencyKey string `json:"idempotency_key"`
	Attempt        int    `json:"attempt"`
	Body           string `json:"body"` // as it was sent, not as JSON: it need not be any
}

// Call prints e. An output that takes nothing more is a [HaltError].
func (p *Print) Call(_ context.Context, e Event) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // for programs and people, not for browsers
	if err := encoder.Encode(printed{
		MessageID: e.MessageID, Group: e.Group, SequenceNumber: e.SequenceNumber,
		IdempotencyKey: e.IdempotencyKey, Attempt: e.Attempt, Body: e.Body,
	}); err != nil {
		return "", fmt.Errorf("writing message %s as JSON: %w", e.MessageID, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.out.Write(text.Bytes())
	if buffered, ok := p.out.(interface{ Flush() error }); ok && err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		return "", &HaltError{fmt.Errorf("printing message %s: %w", e.MessageID, err)}
	}
	return "", nil
}
