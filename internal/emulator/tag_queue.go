package emulator

import "maps"

type tagQueueInput struct {
	QueueURL *string `json:"QueueUrl"`
	Tags     map[string]string
}

func (s *Server) tagQueue(_ *call, in *tagQueueInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if len(in.Tags) == 0 {
		return nil, missingParameter("Tags")
	}
	if err := checkTags(q.tags, in.Tags); err != nil {
		return nil, err
	}
	maps.Copy(q.tags, in.Tags)
	return nil, nil
}
