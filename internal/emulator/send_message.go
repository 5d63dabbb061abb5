package emulator

type sendMessageInput struct {
	messageInput
	QueueURL *string `json:"QueueUrl"`
}

func (s *Server) sendMessage(_ *call, in *sendMessageInput) (any, error) {
	aside, leave := s.enter(in)
	defer leave()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if err := in.checkIDs(q.contentBased); err != nil {
		return nil, err
	}
	if err := in.check(q.maximumSize); err != nil {
		s.refused(q, &in.messageInput)
		return nil, err
	}
	out, err := s.send(q, &in.messageInput, aside)
	if err != nil {
		return nil, err
	}
	s.wake(q)
	return out, nil
}
