package receipt

import (
	"fmt"
	"strings"
)

// Key is what makes two deliveries the same event.
type Key struct {
	// Rule names what the value was taken from: "attribute:idempotency-key",
	// "content", "pointer:/event_id", "attribute:NAME" or "message". It explains the
	// key and is no part of it.
	Rule string
	// Consumer is who the effect is for: two consumers of one queue each have their
	// own. By default the queue's name, never a host or a process.
	Consumer string
	// Space keeps the values of different rules apart: event 7 is not order 7.
	Space string
	// Group is the message group where it is part of the key, else "" (a FIFO
	// queue's groups are never empty).
	Group string
	// Value is the key itself. A zero Key has none.
	Value string
	// Message is the MessageId where the policy [Run] made it part of the key.
	Message string
}

// keyVersion begins every encoded key, so that another form can live beside it.
const keyVersion = "1"

// Encode is the key as one text: the version, then every part behind its length in
// bytes as eight hexadecimal digits. There is no delimiter, so no choice of
// characters can make two keys meet.
func (k Key) Encode() string {
	var b strings.Builder
	b.WriteString(keyVersion)
	for _, part := range []string{k.Consumer, k.Space, k.Group, k.Value, k.Message} {
		fmt.Fprintf(&b, "%08x%s", len(part), part)
	}
	return b.String()
}
