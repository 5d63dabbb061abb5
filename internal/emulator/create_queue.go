package emulator

type createQueueInput struct {
	Attributes map[string]string
	QueueName  *string
	Tags       map[string]string `json:"tags"`
}

type queueURLOutput struct {
	QueueURL string `json:"QueueUrl"`
}

func (s *Server) createQueue(c *call, in *createQueueInput) (any, error) {
	if in.QueueName == nil || *in.QueueName == "" {
		return nil, missingParameter("QueueName")
	}
	q, err := s.create(*in.QueueName, in.Attributes, in.Tags)
	if err != nil {
		return nil, err
	}
	return queueURLOutput{c.queueURL(q.name)}, nil
}
