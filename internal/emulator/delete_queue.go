package emulator

type queueInput struct {
	QueueURL *string `json:"QueueUrl"`
}

// deleteQueue ends the queue and its long polls at once. Its name is free again
// after 60 seconds.
func (s *Server) deleteQueue(_ *call, in *queueInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	q.gone = true
	q.wake()
	q.mu.Unlock()

	// Between the two locks the name is taken still, by a queue that is gone.
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queues, q.name)
	s.deleted[q.name] = s.now()
	return nil, nil
}
