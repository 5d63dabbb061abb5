package consumer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/contenthash"
	"fifoproof/internal/receipt"
)

// What the producer attaches to every message.
const (
	attributeKey    = "idempotency-key" // the message's id
	attributeDigest = "body-digest"     // hash of what the id was made from
	attributeTrace  = "traceparent"     // W3C trace context, where it has one
)

// attributeOrigin is what 'consumer dlq redrive' attaches to the copy that it sends:
// the MessageId of the first message.
const attributeOrigin = "first-message-id"

// maxKey is how long a key may be, in bytes. Ids are short; a longer value is a
// pointer to the wrong field, and databases have limits for what an index takes.
const maxKey = 1024

type keyKind string

const (
	keyDefault   keyKind = ""
	keyContent   keyKind = "content"
	keyMessage   keyKind = "message"
	keyPointer   keyKind = "pointer"
	keyAttribute keyKind = "attribute"
)

// KeyRule says what a message's key is made from. The zero value is the default
// rule: the message attribute idempotency-key, and where a message has none, or
// where fields are selected, the hash of the body. KeyRules can be compared.
type KeyRule struct {
	kind keyKind
	name string // the pointer, or the attribute's name
}

// ParseKeyRule reads a rule as it is written on the command line:
//
//	content            the hash of the body
//	pointer:/event_id  the value at a JSON Pointer (RFC 6901) in the body
//	attribute:NAME     the text of a message attribute
//	message            the MessageId: every message is an event of its own, and a
//	                   redriven copy is the event of the first message
func ParseKeyRule(text string) (KeyRule, error) {
	kind, name, named := strings.Cut(text, ":")
	rule := KeyRule{kind: keyKind(kind), name: name}
	switch rule.kind {
	case keyContent, keyMessage:
		if named {
			return KeyRule{}, fmt.Errorf("the key rule %q takes no name", kind)
		}
		return rule, nil
	case keyAttribute:
		if name == "" {
			return KeyRule{}, errors.New("the key rule attribute: names no attribute")
		}
		return rule, nil
	case keyPointer:
		return rule, checkPointer(name)
	case keyDefault: // has no name on the command line
	}
	return KeyRule{}, fmt.Errorf("there is no key rule %q", text)
}

// checkPointer refuses what can never be found in a body (RFC 6901, section 3).
func checkPointer(pointer string) error {
	switch {
	case pointer == "":
		return errors.New("the key pointer is empty, which is the whole body")
	case pointer[0] != '/':
		return fmt.Errorf("the key pointer %q does not begin with /", pointer)
	}
	for i, c := range pointer {
		if c == '~' && !strings.HasPrefix(pointer[i+1:], "0") && !strings.HasPrefix(pointer[i+1:], "1") {
			return fmt.Errorf("the key pointer %q has a ~ that is not ~0 or ~1", pointer)
		}
	}
	return nil
}

// String is the rule as ParseKeyRule reads it; "default" for the zero value.
func (r KeyRule) String() string {
	switch r.kind {
	case keyDefault:
		return "default"
	case keyPointer, keyAttribute:
		return string(r.kind) + ":" + r.name
	case keyContent, keyMessage:
	}
	return string(r.kind)
}

// hashes reports whether the rule may hash the body, so that a selection of fields
// has a meaning.
func (r KeyRule) hashes() bool { return r.kind == keyDefault || r.kind == keyContent }

// space keeps apart the values of rules that have nothing to do with each other.
// The default rule, its attribute and content keys share a space: the attribute is
// the producer's hash of the same content, so an event stays one event when a
// message comes without the attribute, or when the rule is changed between them.
func (r KeyRule) space() string {
	if r.hashes() || r.kind == keyAttribute && r.name == attributeKey {
		return "event"
	}
	return r.String()
}

// keyer makes keys by one rule.
type keyer struct {
	rule     KeyRule
	hash     *contenthash.Hasher
	whole    *contenthash.Hasher // without a selection, for values at pointers
	consumer string
	grouped  bool
}

// key makes the key of a message and the digest of its body ("" where there is
// none to be had). An error is the reason to reject the message.
func (k *keyer) key(m types.Message, d receipt.Delivery) (key receipt.Key, digest string, err error) {
	content, contentErr := k.hash.ID([]byte(aws.ToString(m.Body)), "")
	digest = k.digest(m, content)
	key.Consumer, key.Space = k.consumer, k.rule.space()
	if k.grouped {
		if d.Group == "" {
			return receipt.Key{}, digest, errors.New("the message group is part of the key, and the queue tells none")
		}
		key.Group = d.Group
	}
	key.Rule, key.Value, err = k.value(m, d, content, contentErr)
	switch {
	case err != nil:
		return receipt.Key{}, digest, err
	case len(key.Value) > maxKey:
		return receipt.Key{}, digest, fmt.Errorf("the key is %d bytes long, and %d is the limit", len(key.Value), maxKey)
	}
	return key, digest, nil
}

// value is the key's text, and what it was really taken from.
func (k *keyer) value(m types.Message, d receipt.Delivery, content string, contentErr error) (rule, value string, err error) {
	rule = k.rule.String()
	switch k.rule.kind {
	case keyMessage:
		return rule, d.Identity(), nil
	case keyAttribute:
		value, found, err := textAttribute(m, k.rule.name)
		if err == nil && !found {
			err = fmt.Errorf("the message has no attribute %s", k.rule.name)
		}
		return rule, value, err
	case keyPointer:
		value, err := k.at(m, k.rule.name)
		return rule, value, err
	case keyDefault:
		if k.hash.Selective() {
			break // the producer's id may be of another selection
		}
		// One that is there but cannot be used is no reason to key the message otherwise.
		if value, found, err := textAttribute(m, attributeKey); found {
			return string(keyAttribute) + ":" + attributeKey, value, err
		}
	case keyContent:
	}
	return string(keyContent), content, contentErr
}

// digest is the producer's own where this consumer selects no fields, else the
// hash made here.
func (k *keyer) digest(m types.Message, content string) string {
	if !k.hash.Selective() {
		if told, found, err := textAttribute(m, attributeDigest); found && err == nil {
			return told
		}
	}
	return content
}

// at is the canonical text of the value at a pointer: 7, 7.0 and 70e-1 are one
// key, "7" is another.
func (k *keyer) at(m types.Message, pointer string) (string, error) {
	raw, found, err := contenthash.Lookup([]byte(aws.ToString(m.Body)), pointer)
	if err != nil {
		return "", err
	}
	if !found {
		return "", fmt.Errorf("the body has no value at %s", pointer)
	}
	text, err := k.whole.Canonical(nil, raw)
	if err != nil {
		return "", err
	}
	switch value := string(text); value {
	case "null":
		return "", fmt.Errorf("the value at %s is null", pointer)
	case `""`, "{}", "[]":
		return "", fmt.Errorf("the value at %s is empty", pointer)
	default:
		return value, nil
	}
}

// textAttribute is the text of a message attribute. An error says why one that is
// there cannot be used.
func textAttribute(m types.Message, name string) (value string, found bool, err error) {
	attribute, found := m.MessageAttributes[name]
	switch {
	case !found:
		return "", false, nil
	case strings.HasPrefix(aws.ToString(attribute.DataType), "Binary") || attribute.StringValue == nil:
		return "", true, fmt.Errorf("the attribute %s is not text", name)
	case *attribute.StringValue == "":
		return "", true, fmt.Errorf("the attribute %s is empty", name)
	default:
		return *attribute.StringValue, true, nil
	}
}
