package emulator

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"fifoproof/internal/fifo"
)

const (
	maxReceiveLimit = 1000 // developer guide, "dead-letter queues"
	sourceLimit     = 10   // sourceQueueArns of a RedriveAllowPolicy

	allowAll = "allowAll" // the permission of a queue without a RedriveAllowPolicy
)

// redrivePolicy is the attribute RedrivePolicy. The zero value is none.
type redrivePolicy struct {
	target      string // ARN
	maxReceives int
}

// parseRedrivePolicy reads the JSON of a RedrivePolicy; "" is none.
func parseRedrivePolicy(value string) (redrivePolicy, *apiError) {
	if value == "" {
		return redrivePolicy{}, nil
	}
	var fields struct {
		Target *string         `json:"deadLetterTargetArn"`
		Max    json.RawMessage `json:"maxReceiveCount"`
	}
	refuse := func(reason string) (redrivePolicy, *apiError) {
		return redrivePolicy{}, invalidValue(value, attrRedrive, reason)
	}
	switch err := decodeStrictly(value, &fields); {
	case err != nil:
		return refuse("It must be a JSON object with deadLetterTargetArn and maxReceiveCount.")
	case fields.Target == nil:
		return refuse("It does not contain the mandatory attribute deadLetterTargetArn.")
	case fields.Max == nil:
		return refuse("It does not contain the mandatory attribute maxReceiveCount.")
	}
	n, err := strconv.Atoi(strings.Trim(string(fields.Max), `"`)) // a number, or a string of one
	if err != nil || n < 1 || n > maxReceiveLimit {
		return refuse("maxReceiveCount must be a whole number from 1 to 1000.")
	}
	return redrivePolicy{target: *fields.Target, maxReceives: n}, nil
}

func isRedrivePolicy(_, value string) (string, error) {
	if _, err := parseRedrivePolicy(value); err != nil {
		return "", err
	}
	return value, nil
}

// allowPolicy is the attribute RedriveAllowPolicy.
type allowPolicy struct {
	Permission string   `json:"redrivePermission"`
	Sources    []string `json:"sourceQueueArns"`
}

func isRedriveAllowPolicy(name, value string) (string, error) {
	var policy allowPolicy
	if decodeStrictly(value, &policy) != nil {
		return "", invalidValue(value, name, "It must be a JSON object with redrivePermission and, for byQueue, sourceQueueArns.")
	}
	n := len(policy.Sources)
	switch policy.Permission {
	case allowAll, "denyAll":
		if n > 0 {
			return "", invalidValue(value, name, "sourceQueueArns is allowed only with redrivePermission byQueue.")
		}
	case "byQueue":
		if n < 1 || n > sourceLimit {
			return "", invalidValue(value, name, "sourceQueueArns must have 1 to 10 ARNs of queues.")
		}
		for _, arn := range policy.Sources {
			if parts := strings.Split(arn, ":"); len(parts) != 6 || !strings.HasPrefix(arn, "arn:") || parts[2] != "sqs" {
				return "", invalidValue(value, name, "sourceQueueArns must be ARNs of queues.")
			}
		}
	default:
		return "", invalidValue(value, name, "redrivePermission must be allowAll, denyAll or byQueue.")
	}
	return value, nil
}

func decodeStrictly(value string, into any) error {
	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if decoder.More() {
		return strconv.ErrSyntax
	}
	return nil
}

// checkRedrive checks a RedrivePolicy that queue name is to be given against the
// other queues: the target exists, is a FIFO queue of this account and region and
// lets itself be used. The caller holds the lock.
func (s *Server) checkRedrive(name string, given map[string]string) error {
	value := given[attrRedrive]
	policy, _ := parseRedrivePolicy(value)
	target := s.named(policy.target)
	switch {
	case value == "":
		return nil
	case policy.target == arnPrefix+name:
		return invalidValue(value, attrRedrive, "A queue cannot be its own dead-letter queue.")
	case strings.HasPrefix(policy.target, arnPrefix) && !strings.HasSuffix(policy.target, ".fifo"):
		return invalidValue(value, attrRedrive, "The dead-letter queue of a FIFO queue must be a FIFO queue.")
	case target == nil:
		return invalidValue(value, attrRedrive, "Dead letter target does not exist.")
	case !target.admits(arnPrefix + name):
		return invalidValue(value, attrRedrive, "The RedriveAllowPolicy of the dead-letter queue does not allow this queue.")
	}
	return nil
}

// admits tells whether the queue with this ARN may have q as its dead-letter queue.
func (q *queue) admits(source string) bool {
	policy := allowPolicy{Permission: allowAll}
	if value := q.attributes[attrRedriveAllow]; value != "" {
		_ = json.Unmarshal([]byte(value), &policy) // it was checked when it was set
	}
	return policy.Permission == allowAll || policy.Permission == "byQueue" && slices.Contains(policy.Sources, source)
}

// sources are the names of the queues that have q as their dead-letter queue.
func (s *Server) sources(q *queue) (names []string) {
	for _, name := range sortedKeys(s.queues) {
		if s.queues[name].redrive.target == q.arn() {
			names = append(names, name)
		}
	}
	return names
}

// receive receives from q and moves what was received too often to the dead-letter
// queue, in one step for whoever looks. A message whose dead-letter queue was
// deleted is received on.
func (s *Server) receive(q *queue, now time.Time, ask fifo.Ask) ([]fifo.Delivery, error) {
	target := s.named(q.redrive.target)
	if target != nil {
		ask.MaxReceives = q.redrive.maxReceives
	}
	got, dead, err := q.fifo.Receive(now, ask)
	for _, letter := range dead {
		target.fifo.Bury(now, letter, q.arn())
	}
	if len(dead) > 0 {
		s.wake(target)
	}
	return got, err
}
