package emulator

type sendMessageInput struct {
	messageInput
	QueueURL *string `json:"QueueUrl"`
}

func (s *Server) sendMessage(_ *call, in *sendMessageInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer q.mu.Unlock()
	if err := in.checkIDs(q.contentBased); err != nil {
		return nil, err
	}
	if err := in.check(q.maximumSize); err != nil {
		return nil, err
	}
	out, err := s.send(q, &in.messageInput)
	if err != nil {
		return nil, err
	}
	q.wake()
	return out, nil
}
