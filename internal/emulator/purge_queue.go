package emulator

import (
	"errors"

	"fifoproof/internal/fifo"
)

func (s *Server) purgeQueue(_ *call, in *queueInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if err := q.fifo.Purge(s.now()); errors.Is(err, fifo.ErrPurging) {
		return nil, purgeInProgress(q.name)
	} else if err != nil {
		return nil, err
	}
	s.wake(q)
	return nil, nil
}
