package emulator

import (
	"slices"
	"strings"
)

type listQueuesInput struct {
	MaxResults      *int64
	NextToken       *string
	QueueNamePrefix *string
}

type listQueuesOutput struct {
	NextToken string   `json:",omitempty"`
	QueueURLs []string `json:"QueueUrls,omitempty"`
}

func (s *Server) listQueues(c *call, in *listQueuesInput) (any, error) {
	page, err := newPage(in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	s.lock()
	names := sortedKeys(s.queues)
	s.mu.Unlock()
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, text(in.QueueNamePrefix)) })
	var out listQueuesOutput
	names, out.NextToken = page.of(names)
	for _, name := range names {
		out.QueueURLs = append(out.QueueURLs, c.queueURL(name))
	}
	return out, nil
}
