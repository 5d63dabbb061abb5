package emulator

import (
	"fmt"

	"fifoproof/internal/fifo"
)

// Fault names a planted mistake. It exists to prove that a test suite catches it;
// "" is the right endpoint.
type Fault string

const (
	// WindowSlides begins the deduplication window anew with every duplicate.
	WindowSlides Fault = "window-slides"
	// ForgetsOnDelete forgets a deduplication id when its message is deleted.
	ForgetsOnDelete Fault = "forgets-on-delete"
	// ScopeIgnored deduplicates over the whole queue whatever its scope says.
	ScopeIgnored Fault = "scope-ignored"
	// DuplicateEnqueued delivers a duplicate under the first copy's MessageId and
	// SequenceNumber.
	DuplicateEnqueued Fault = "duplicate-enqueued"
)

var variants = []struct {
	fault   Fault
	variant func() fifo.Variant
}{
	{WindowSlides, fifo.WindowSlides},
	{ForgetsOnDelete, fifo.ForgetsOnDelete},
	{ScopeIgnored, fifo.ScopeIgnored},
	{DuplicateEnqueued, fifo.DuplicateEnqueued},
}

// Faults lists all faults that can be planted.
func Faults() []Fault {
	all := make([]Fault, len(variants))
	for i, v := range variants {
		all[i] = v.fault
	}
	return all
}

func (f Fault) variant() (fifo.Variant, error) {
	if f == "" {
		return fifo.Variant{}, nil
	}
	for _, v := range variants {
		if v.fault == f {
			return v.variant(), nil
		}
	}
	return fifo.Variant{}, fmt.Errorf("no fault is named %q", string(f))
}
