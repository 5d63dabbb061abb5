package deadletter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"fifoproof/internal/contenthash"
)

// Filter chooses messages. Its zero value chooses all; what is set must all hold.
type Filter struct {
	Message string // a MessageId, or the first MessageId of a redriven copy
	Group   string
	Reason  string // a part of the last attempt's reason
	Value   Value
	Older   time.Duration // has been here for longer
	Bodies  bool          // keep the bodies of what is chosen
}

// Value is what a body has to hold at a pointer. The zero value is anything.
type Value struct{ pointer, canonical string }

// ParseValue reads POINTER=VALUE, a JSON Pointer (RFC 6901) and what is to be found
// there: JSON, as 42, "42" or true, or else the text of a string.
func ParseValue(text string) (Value, error) {
	pointer, value, cut := strings.Cut(text, "=")
	if !cut || !strings.HasPrefix(pointer, "/") {
		return Value{}, fmt.Errorf("%q is no pointer with a value, as /customer/id=42", text)
	}
	if _, _, err := contenthash.Lookup([]byte("{}"), pointer); err != nil {
		return Value{}, fmt.Errorf("reading the pointer %q: %w", pointer, err)
	}
	hash, err := contenthash.New(contenthash.Options{})
	if err != nil {
		return Value{}, err
	}
	canonical, err := hash.Canonical(nil, []byte(value))
	if err != nil {
		quoted, err := json.Marshal(value)
		if err != nil {
			return Value{}, fmt.Errorf("reading the value at %s: %w", pointer, err)
		}
		if canonical, err = hash.Canonical(nil, quoted); err != nil {
			return Value{}, fmt.Errorf("reading the value at %s: %w", pointer, err)
		}
	}
	return Value{pointer, string(canonical)}, nil
}

// String is the value as ParseValue reads it.
func (v Value) String() string { return v.pointer + "=" + v.canonical }

// errNoMatch keeps a body that has nothing at the pointer apart from one that holds "".
var errNoMatch = errors.New("no value")

// in reports whether body holds the value. Bodies that are no JSON hold nothing.
func (v Value) in(hash *contenthash.Hasher, body string) bool {
	canonical, err := at(hash, body, v.pointer)
	return err == nil && canonical == v.canonical
}

func at(hash *contenthash.Hasher, body, pointer string) (string, error) {
	raw, found, err := contenthash.Lookup([]byte(body), pointer)
	if err != nil {
		return "", err
	}
	if !found {
		return "", errNoMatch
	}
	canonical, err := hash.Canonical(nil, raw)
	return string(canonical), err
}

// chooses reports whether m, which still has its body, is one of those that f is after.
func (l *Letters) chooses(f Filter, m Message) bool {
	switch {
	case f.Message != "" && f.Message != m.ID && f.Message != m.Identity,
		f.Group != "" && f.Group != m.Group,
		f.Reason != "" && !strings.Contains(m.History.Reason, f.Reason),
		f.Older > 0 && l.cfg.Clock.Now().Sub(m.SentAt) <= f.Older,
		f.Value != Value{} && !f.Value.in(l.hash, m.Body):
		return false
	}
	return true
}
