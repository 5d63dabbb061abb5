package emulator

type deleteMessageInput struct {
	QueueURL      *string `json:"QueueUrl"`
	ReceiptHandle *string
}

func (s *Server) deleteMessage(_ *call, in *deleteMessageInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if in.ReceiptHandle == nil {
		return nil, missingParameter("ReceiptHandle")
	}
	if err := s.deleteBy(q, *in.ReceiptHandle); err != nil {
		return nil, err
	}
	s.wake(q) // its group may be free
	return nil, nil
}
