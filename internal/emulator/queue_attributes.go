package emulator

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Names of queue attributes that the code itself uses.
const (
	attrContentBased = "ContentBasedDeduplication"
	attrDelay        = "DelaySeconds"
	attrFifoQueue    = "FifoQueue"
	attrKmsKey       = "KmsMasterKeyId"
	attrLimit        = "FifoThroughputLimit"
	attrMaximumSize  = "MaximumMessageSize"
	attrPolicy       = "Policy"
	attrRedrive      = "RedrivePolicy"
	attrRedriveAllow = "RedriveAllowPolicy"
	attrRetention    = "MessageRetentionPeriod"
	attrScope        = "DeduplicationScope"
	attrSSE          = "SqsManagedSseEnabled"
	attrVisibility   = "VisibilityTimeout"
	attrWait         = "ReceiveMessageWaitTimeSeconds"
)

// Values of queue attributes that the code itself uses.
const (
	yes             = "true"
	no              = "false"
	perMessageGroup = "perMessageGroupId"
)

// attributeRule reads one attribute's value and returns its canonical spelling.
type attributeRule struct {
	fallback string // "": absent until it is set
	read     func(name, value string) (string, error)
}

// attributeRules are the attributes that can be set. Ranges and defaults: API
// reference, SetQueueAttributes.
var attributeRules = map[string]attributeRule{
	attrContentBased: {no, boolean},
	attrDelay:        {"0", within(0, 900)},
	attrFifoQueue:    {yes, isTrue},
	attrLimit:        {"perQueue", oneOf("perQueue", perMessageGroup)},
	attrMaximumSize:  {strconv.Itoa(sizeLimit), within(1024, sizeLimit)},
	attrRetention:    {"345600", within(60, 1209600)},
	attrScope:        {"queue", oneOf("queue", "messageGroup")},
	attrSSE:          {yes, boolean},
	attrVisibility:   {"30", within(0, maxVisibility)},
	attrWait:         {"0", within(0, maxWait)},

	// Kept and read back, not acted on.
	attrKmsKey:                     {"", anyText},
	"KmsDataKeyReusePeriodSeconds": {"", within(60, 86400)},
	attrPolicy:                     {"", jsonObject},

	// Kept as they are spelled; see redrive.go.
	attrRedrive:      {"", isRedrivePolicy},
	attrRedriveAllow: {"", isRedriveAllowPolicy},
}

// readOnlyAttributes can be asked for beside attributeRules.
var readOnlyAttributes = []string{
	"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible",
	"CreatedTimestamp", "LastModifiedTimestamp", "QueueArn",
}

func defaultAttributes() map[string]string {
	values := map[string]string{}
	for name, rule := range attributeRules {
		if rule.fallback != "" {
			values[name] = rule.fallback
		}
	}
	return values
}

// normalise reads given attributes. The result has the same names.
func normalise(given map[string]string) (map[string]string, error) {
	values := make(map[string]string, len(given))
	for _, name := range sortedKeys(given) {
		rule, known := attributeRules[name]
		if !known {
			return nil, invalidAttributeName(name)
		}
		value := given[name]
		// An empty value takes an attribute without a default away.
		if value != "" || rule.fallback != "" {
			var err error
			if value, err = rule.read(name, value); err != nil {
				return nil, err
			}
		}
		values[name] = value
	}
	return values, nil
}

// merge is the attributes that a queue with old ones has after given ones were set.
func merge(old, given map[string]string) (map[string]string, error) {
	values := maps.Clone(old)
	maps.Copy(values, given)
	if values[attrLimit] == perMessageGroup && values[attrScope] != "messageGroup" {
		return nil, invalidAttributeValue(attrLimit, perMessageGroup+" is allowed only when DeduplicationScope is messageGroup.")
	}
	// One kind of server-side encryption at a time.
	if given[attrKmsKey] != "" {
		values[attrSSE] = no
	}
	maps.DeleteFunc(values, func(_, value string) bool { return value == "" })
	return values, nil
}

func parseBool(name, value string) (bool, error) {
	switch strings.ToLower(value) {
	case yes:
		return true, nil
	case no:
		return false, nil
	}
	return false, invalidAttributeValue(name, "Must be true or false.")
}

func boolean(name, value string) (string, error) {
	b, err := parseBool(name, value)
	return strconv.FormatBool(b), err
}

func isTrue(name, value string) (string, error) {
	b, err := parseBool(name, value)
	if err == nil && !b {
		err = invalidAttributeValue(name, "Modifying queue type is not supported.")
	}
	return yes, err
}

func within(least, most int) func(name, value string) (string, error) {
	return func(name, value string) (string, error) {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return "", invalidAttributeValue(name, fmt.Sprintf("Must be a whole number from %d to %d.", least, most))
		}
		return strconv.Itoa(n), nil
	}
}

func oneOf(allowed ...string) func(name, value string) (string, error) {
	return func(name, value string) (string, error) {
		if !slices.Contains(allowed, value) {
			return "", invalidAttributeValue(name, "Must be "+strings.Join(allowed, " or ")+".")
		}
		return value, nil
	}
}

func anyText(_, value string) (string, error) { return value, nil }

func jsonObject(name, value string) (string, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(value), &object) != nil {
		return "", invalidAttributeValue(name, "Must be a JSON object.")
	}
	return value, nil
}

// sameValue tells whether two values of an attribute say the same.
func sameValue(name, a, b string) bool {
	switch name {
	case attrRedrive:
		one, _ := parseRedrivePolicy(a)
		other, _ := parseRedrivePolicy(b)
		return one == other
	case attrPolicy, attrRedriveAllow:
		var one, other any
		return a == b || json.Unmarshal([]byte(a), &one) == nil && json.Unmarshal([]byte(b), &other) == nil &&
			reflect.DeepEqual(one, other)
	}
	return a == b
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
