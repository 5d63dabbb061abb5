package emulator

type listDeadLetterSourceQueuesInput struct {
	MaxResults *int64
	NextToken  *string
	QueueURL   *string `json:"QueueUrl"`
}

type listDeadLetterSourceQueuesOutput struct {
	NextToken string   `json:",omitempty"`
	QueueURLs []string `json:"queueUrls"` // in lower case, as the service model has it
}

// listDeadLetterSourceQueues lists by name the queues whose dead-letter queue this
// one is.
func (s *Server) listDeadLetterSourceQueues(c *call, in *listDeadLetterSourceQueuesInput) (any, error) {
	page, err := newPage(in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := listDeadLetterSourceQueuesOutput{QueueURLs: []string{}}
	names, token := page.of(s.sources(q))
	for _, name := range names {
		out.QueueURLs = append(out.QueueURLs, c.queueURL(name))
	}
	out.NextToken = token
	return out, nil
}
