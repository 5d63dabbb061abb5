package producer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"fifoproof/internal/window"
)

// known is what a producer remembers of messages: by MessageId for ever, since a
// reply may name any of them; by deduplication ID while its interval is open, since
// only then can a second group lose a message. A million messages cost some 56 MB.
type known struct {
	messages map[key]place
	origins  []origin
	numbers  map[origin]uint32 // index into origins

	claims *window.Table[claim]
}

// key is a MessageId in 16 bytes: the UUID that SQS makes, or a hash of another text.
type key [16]byte

// place is where a message was first seen.
type place struct {
	origin uint32
	line   uint32
}

type origin struct{ run, source string }

// claim is the first use of a deduplication ID in its interval.
type claim struct {
	place place
	group string
}

func newKnown() *known {
	return &known{
		messages: map[key]place{},
		numbers:  map[origin]uint32{},
		// The queue stands in for the table's group: IDs are never shared between queues.
		claims: window.NewTable[claim](window.ScopeGroup, window.Length),
	}
}

func (k *known) place(run, source string, line int) place {
	o := origin{run, source}
	number, found := k.numbers[o]
	if !found {
		number = uint32(len(k.origins))
		// The strings may be parts of a long log line.
		o = origin{strings.Clone(run), strings.Clone(source)}
		k.origins = append(k.origins, o)
		k.numbers[o] = number
	}
	return place{origin: number, line: uint32(line)}
}

// remember keeps the first place of a message and returns the one there was before.
func (k *known) remember(messageID string, at place) (first place, duplicate bool) {
	id := keyOf(messageID)
	if first, duplicate = k.messages[id]; duplicate {
		return first, true
	}
	k.messages[id] = at
	return at, false
}

// claim is the use of an ID in a group. It returns the use that opened the ID's
// interval where that was in another group.
func (k *known) claim(now time.Time, queue, id, group string, at place) (first claim, lost bool) {
	first, again := k.claims.Decide(now, queue, id, claim{at, group})
	return first, again && first.group != group
}

// label names a place for a reader who looks at run.
func (k *known) label(at place, run string, severalInputs bool) string {
	o := k.origins[at.origin]
	text := fmt.Sprintf("line %d", at.line)
	if severalInputs || o.run != run {
		text += " of " + o.source
	}
	if o.run != run {
		text += " in an earlier run (" + o.run + ")"
	}
	return text
}

func keyOf(messageID string) (k key) {
	if len(messageID) == 36 && messageID[8] == '-' && messageID[13] == '-' && messageID[18] == '-' && messageID[23] == '-' {
		var digits [32]byte
		copy(digits[0:], messageID[0:8])
		copy(digits[8:], messageID[9:13])
		copy(digits[12:], messageID[14:18])
		copy(digits[16:], messageID[19:23])
		copy(digits[20:], messageID[24:])
		if _, err := hex.Decode(k[:], digits[:]); err == nil {
			return k
		}
	}
	sum := sha256.Sum256([]byte(messageID))
	copy(k[:], sum[:])
	return k
}
