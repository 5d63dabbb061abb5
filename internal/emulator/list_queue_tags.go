package emulator

import "maps"

type listQueueTagsOutput struct {
	Tags map[string]string `json:",omitempty"`
}

func (s *Server) listQueueTags(_ *call, in *queueInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return listQueueTagsOutput{maps.Clone(q.tags)}, nil
}
