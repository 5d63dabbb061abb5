package emulator

import (
	"maps"
	"slices"
	"strconv"
)

type getQueueAttributesInput struct {
	AttributeNames []string
	QueueURL       *string `json:"QueueUrl"`
}

type getQueueAttributesOutput struct {
	Attributes map[string]string `json:",omitempty"`
}

func (s *Server) getQueueAttributes(_ *call, in *getQueueAttributesInput) (any, error) {
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, name := range in.AttributeNames {
		if _, canBeSet := attributeRules[name]; name != "All" && !canBeSet && !slices.Contains(readOnlyAttributes, name) {
			return nil, invalidAttributeName(name)
		}
	}

	counts := s.counts(q)
	values := maps.Clone(q.attributes)
	values["ApproximateNumberOfMessages"] = strconv.Itoa(counts.Visible)
	values["ApproximateNumberOfMessagesDelayed"] = strconv.Itoa(counts.Delayed)
	values["ApproximateNumberOfMessagesNotVisible"] = strconv.Itoa(counts.InFlight)
	values["CreatedTimestamp"] = strconv.FormatInt(q.created.Unix(), 10)
	values["LastModifiedTimestamp"] = strconv.FormatInt(q.modified.Unix(), 10)
	values["QueueArn"] = q.arn()
	if !slices.Contains(in.AttributeNames, "All") {
		maps.DeleteFunc(values, func(name, _ string) bool { return !slices.Contains(in.AttributeNames, name) })
	}
	return getQueueAttributesOutput{values}, nil
}
