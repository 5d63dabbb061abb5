package emulator

type changeMessageVisibilityInput struct {
	QueueURL          *string `json:"QueueUrl"`
	ReceiptHandle     *string
	VisibilityTimeout *int64
}

func (s *Server) changeMessageVisibility(_ *call, in *changeMessageVisibilityInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if in.ReceiptHandle == nil {
		return nil, missingParameter("ReceiptHandle")
	}
	if err := s.changeBy(q, *in.ReceiptHandle, in.VisibilityTimeout); err != nil {
		return nil, err
	}
	s.wake(q)
	return nil, nil
}
