package consumer

import "fifoproof/internal/receipt"

// Summary counts deliveries by what became of them.
type Summary struct {
	Deliveries  int64
	Effects     int64 // deliveries of a fresh key
	Redelivered int64
	Repeated    int64
	Rejected    int64
	HeldBack    int64 // not worked on, or not completed: they come again
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
	case receipt.Pending:
		s.HeldBack++
	}
}
