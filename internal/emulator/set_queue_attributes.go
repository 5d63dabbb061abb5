package emulator

type setQueueAttributesInput struct {
	Attributes map[string]string
	QueueURL   *string `json:"QueueUrl"`
}

// setQueueAttributes changes attributes at once; AWS allows itself up to 60 seconds
// and 15 minutes for the retention.
func (s *Server) setQueueAttributes(_ *call, in *setQueueAttributesInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if len(in.Attributes) == 0 {
		return nil, missingParameter("Attributes")
	}
	given, err := normalise(in.Attributes)
	if err != nil {
		return nil, err
	}
	values, err := merge(q.attributes, given)
	if err != nil {
		return nil, err
	}
	if err := s.checkRedrive(q.name, given); err != nil {
		return nil, err
	}
	q.adopt(s.now(), values)
	s.wake(q)
	return nil, nil
}
