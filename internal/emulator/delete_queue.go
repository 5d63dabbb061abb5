package emulator

type queueInput struct {
	QueueURL *string `json:"QueueUrl"`
}

// deleteQueue ends the queue, its long polls and its move task at once. Its name is
// free again after 60 seconds.
func (s *Server) deleteQueue(_ *call, in *queueInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	q.gone = true
	s.wake(q)
	s.abandon(q)
	delete(s.queues, q.name)
	s.deleted[q.name] = s.now()
	return nil, nil
}
