package producer

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"fifoproof/internal/contenthash"
)

// message is a record on its way, with what only the way needs.
type message struct {
	Record
	body        string
	traceparent string // "": none is sent
	bad         bool   // no message could be made of the line
	uncertain   bool   // some attempt may have been carried out without an answer that says so
}

// prepare makes a message of a line. The error says why there is none; it names
// neither the line nor any text of the body.
func (p *Producer) prepare(l line) (message, error) {
	var m message
	if l.text == nil {
		return m, fmt.Errorf("the body has %d bytes, and SQS takes at most %d with the two attributes that each message carries",
			l.length, maxBody)
	}
	body := l.text
	group, err := p.group(body)
	if err != nil {
		return m, err
	}
	if m.Record, err = p.identify(body, group); err != nil {
		return m, err
	}
	if problem := refusedCharacter(body); problem != "" {
		return m, errors.New(problem)
	}
	m.body = string(body)
	if trace := p.cfg.Traceparent; trace != "" && len(body)+traceBytes(trace) <= maxBody {
		m.traceparent = trace
	}
	return m, nil
}

// identify makes the ID and the digest of a body.
func (p *Producer) identify(body []byte, group string) (Record, error) {
	hash := p.cfg.Hash
	id, err := hash.ID(body, group)
	if err != nil {
		return Record{}, err
	}
	digest, err := hash.Digest(body)
	if err != nil {
		return Record{}, err
	}
	r := Record{Group: group, ID: id, BodyDigest: hex.EncodeToString(digest[:])}
	if p.cfg.Explain {
		explained, err := hash.Explain(body, group)
		if err != nil {
			return Record{}, err
		}
		r.Explanation = &explained
	}
	return r, nil
}

// group is the message group of a body. With a pointer it is the text of the string,
// number, true or false found there. A number is taken in its canonical spelling, so
// that two spellings of one body never land in two groups: they have one ID, and a
// queue with scope queue would keep only one of them.
func (p *Producer) group(body []byte) (string, error) {
	pointer := p.cfg.GroupPointer
	if pointer == "" {
		return p.cfg.Group, nil
	}
	raw, found, err := contenthash.Lookup(body, pointer)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", fmt.Errorf("no group: %s is absent", pointer)
	}
	var group string
	switch raw[0] {
	case '"':
		if err := json.Unmarshal(raw, &group); err != nil {
			return "", fmt.Errorf("no group: reading the string at %s: %w", pointer, err)
		}
	case 'n':
		return "", fmt.Errorf("no group: %s is null", pointer)
	case '{', '[':
		return "", fmt.Errorf("no group: %s is neither string, number, true nor false", pointer)
	case 't', 'f':
		group = string(raw)
	default:
		number, err := p.numbers.Canonical(nil, raw)
		if err != nil {
			return "", fmt.Errorf("no group: reading the number at %s: %w", pointer, err)
		}
		group = string(number)
	}
	if problem := groupProblem(group); problem != "" {
		return "", fmt.Errorf("no group: %s %s", pointer, problem)
	}
	return group, nil
}

// groupProblem is empty for a text that SQS takes as MessageGroupId: 1 to 128 ASCII
// letters, digits and punctuation characters (API reference, SendMessage).
func groupProblem(group string) string {
	switch {
	case group == "":
		return "is empty"
	case len(group) > 128:
		return fmt.Sprintf("has %d bytes, and a group at most 128", len(group))
	}
	for i := range len(group) {
		if c := group[i]; c <= ' ' || c > '~' {
			return "holds a character other than ASCII letters, digits and punctuation"
		}
	}
	return ""
}

// refusedCharacter names the first character that SQS refuses in a body with
// InvalidMessageContents: it takes U+0009, U+000A, U+000D, U+0020 to U+D7FF, U+E000 to
// U+FFFD and U+10000 to U+10FFFF (API reference, SendMessage).
func refusedCharacter(body []byte) string {
	for i := 0; i < len(body); {
		if c := body[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
				return fmt.Sprintf("SQS refuses the character U+%04X (byte %d)", c, i)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return fmt.Sprintf("the body is not UTF-8 (byte %d)", i)
		case r == 0xFFFE || r == 0xFFFF:
			return fmt.Sprintf("SQS refuses the character U+%04X (byte %d): write it as an escape", r, i)
		}
		i += size
	}
	return ""
}
