package consumer

import (
	"sync"

	"fifoproof/internal/receipt"
)

// Summary counts deliveries by what became of them. Those that are still in hand
// are not in it.
type Summary struct {
	Deliveries  int64
	Effects     int64 // deliveries of a fresh key
	Redelivered int64
	Repeated    int64
	Rejected    int64
	Failed      int64 // attempts without effect: they come again, or go to the dead-letter queue
	Dead        int64 // of Failed, those that were the last: the queue moves the message to the dead-letter queue
	HeldBack    int64 // put off or given back without an attempt: they come again
}

func (s *Summary) add(kind receipt.Kind) {
	s.Deliveries++
	switch kind {
	case receipt.Fresh:
		s.Effects++
	case receipt.Redelivered:
		s.Redelivered++
	case receipt.Repeated:
		s.Repeated++
	case receipt.Rejected:
		s.Rejected++
	case receipt.Failed:
		s.Failed++
	case receipt.Pending:
		s.HeldBack++
	}
}

// tally is a summary that several may add to.
type tally struct {
	mu  sync.Mutex
	sum Summary
}

// add counts one delivery and tells progress, one call at a time. dead says that the
// queue will not give the message out again.
func (t *tally) add(kind receipt.Kind, dead bool, progress func(Summary)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.add(kind)
	if dead && kind == receipt.Failed {
		t.sum.Dead++
	}
	if progress != nil {
		progress(t.sum)
	}
}

func (t *tally) read() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum
}
