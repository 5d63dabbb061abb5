package window

import (
	"fmt"
	"time"
)

// Length is the deduplication interval of SQS. It cannot be configured (API
// reference, SendMessage: "The deduplication interval is 5 minutes").
const Length = 5 * time.Minute

// Scope says what an id belongs to: the queue attribute DeduplicationScope.
type Scope uint8

const (
	// ScopeQueue makes an id one id in all message groups. It is SQS's default.
	ScopeQueue Scope = iota
	// ScopeGroup makes an id an id of its message group: the same id in another
	// group is another message.
	ScopeGroup
)

// String returns the attribute's value as SQS spells it: "queue" or "messageGroup".
func (s Scope) String() string {
	switch s {
	case ScopeQueue:
		return "queue"
	case ScopeGroup:
		return "messageGroup"
	default:
		return fmt.Sprintf("Scope(%d)", uint8(s))
	}
}

// ParseScope reads the value of the queue attribute DeduplicationScope. SQS leaves
// no room for other spellings, so neither does this.
func ParseScope(value string) (Scope, error) {
	for _, s := range []Scope{ScopeQueue, ScopeGroup} {
		if value == s.String() {
			return s, nil
		}
	}
	return ScopeQueue, fmt.Errorf("deduplication scope %.64q: want %q or %q", value, ScopeQueue, ScopeGroup)
}
