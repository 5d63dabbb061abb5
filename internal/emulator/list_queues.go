package emulator

import (
	"encoding/base64"
	"strings"
)

const maxResults = 1000

type listQueuesInput struct {
	MaxResults      *int64
	NextToken       *string
	QueueNamePrefix *string
}

type listQueuesOutput struct {
	NextToken string   `json:",omitempty"`
	QueueURLs []string `json:"QueueUrls,omitempty"`
}

// listQueues lists by name. A token is the last name of the page before, so that a
// queue made or deleted in between disturbs no other.
func (s *Server) listQueues(c *call, in *listQueuesInput) (any, error) {
	most := maxResults
	if in.MaxResults != nil {
		if err := checkRange("MaxResults", *in.MaxResults, 1, maxResults); err != nil {
			return nil, err
		}
		most = int(*in.MaxResults)
	}
	after, err := base64.RawURLEncoding.DecodeString(text(in.NextToken))
	if err != nil {
		return nil, invalidValue(*in.NextToken, "NextToken", "It is not a token of this endpoint.")
	}

	s.mu.Lock()
	names := sortedKeys(s.queues)
	s.mu.Unlock()
	var out listQueuesOutput
	last := ""
	for _, name := range names {
		if name <= string(after) || !strings.HasPrefix(name, text(in.QueueNamePrefix)) {
			continue
		}
		if len(out.QueueURLs) == most {
			// Without MaxResults the API returns no token (API reference, ListQueues).
			if in.MaxResults != nil {
				out.NextToken = base64.RawURLEncoding.EncodeToString([]byte(last))
			}
			break
		}
		out.QueueURLs = append(out.QueueURLs, c.queueURL(name))
		last = name
	}
	return out, nil
}
