package emulator

type untagQueueInput struct {
	QueueURL *string `json:"QueueUrl"`
	TagKeys  []string
}

func (s *Server) untagQueue(_ *call, in *untagQueueInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if len(in.TagKeys) == 0 {
		return nil, missingParameter("TagKeys")
	}
	for _, key := range in.TagKeys {
		delete(q.tags, key)
	}
	return nil, nil
}
