package emulator

type getQueueURLInput struct {
	QueueName              *string
	QueueOwnerAWSAccountID *string `json:"QueueOwnerAWSAccountId"`
}

func (s *Server) getQueueURL(c *call, in *getQueueURLInput) (any, error) {
	if in.QueueName == nil || *in.QueueName == "" {
		return nil, missingParameter("QueueName")
	}
	s.lock()
	defer s.mu.Unlock()
	owner := in.QueueOwnerAWSAccountID
	if s.queues[*in.QueueName] == nil || owner != nil && *owner != Account {
		return nil, noSuchQueue()
	}
	return queueURLOutput{c.queueURL(*in.QueueName)}, nil
}
