package audit

import (
	"bytes"
	"errors"

	"fifoproof/internal/producer"
)

// entry is what an audit needs of a line of the send log. The texts are parts of the
// line.
type entry struct {
	run, queue, group, id, digest, message, sequence []byte

	start, end int64 // nanoseconds since 1970: the first attempt's start, the last one's end or 0
	outcome    outcome
}

// outcomes are the producer's words.
var outcomes = map[string]outcome{
	string(producer.Accepted):  accepted,
	string(producer.Duplicate): duplicate,
	string(producer.Unknown):   unknown,
	string(producer.Failed):    failed,
	string(producer.Unsent):    unsent,
}

// Fields that lines of both files have.
const (
	fieldQueue    = "queue"
	fieldGroup    = "group"
	fieldDigest   = "body_digest"
	fieldMessage  = "message_id"
	fieldSequence = "sequence_number"
	fieldConsumer = "consumer" // of receipts, and of their keys
)

// errCut is about a line that may be the beginning of an entry whose run was killed.
var errCut = errors.New("no send log entry")

// parse reads a line. What the quick way does not understand goes to the producer's
// own reader, which says what is an entry and what is not.
func (e *entry) parse(line []byte) error {
	if e.scan(line) {
		return nil
	}
	found := false
	notes, err := producer.ReadLog(bytes.NewReader(line), func(slow producer.Entry) error {
		e.from(slow)
		found = true
		return nil
	})
	switch inner := errors.Unwrap(err); {
	case err != nil && inner != nil:
		return inner // without "line 1", which is not its number
	case err != nil:
		return err
	case !found || len(notes) > 0:
		return errCut
	}
	return nil
}

// from takes the fields of an entry that the producer's reader has read.
func (e *entry) from(slow producer.Entry) {
	*e = entry{
		run: []byte(slow.Run), queue: []byte(slow.Queue), group: []byte(slow.Group), id: []byte(slow.ID),
		digest: []byte(slow.BodyDigest), message: []byte(slow.MessageID), sequence: []byte(slow.SequenceNumber),
		outcome: outcomes[string(slow.Outcome)],
	}
	for i, a := range slow.Attempts {
		if i == 0 {
			e.start, _ = nanoseconds(a.Start)
		}
		e.end = 0
		if a.End != nil {
			e.end, _ = nanoseconds(*a.End)
		}
	}
}

// scan reads a line the quick way. The names of the fields are those of
// [producer.Entry]; a test holds the two together.
func (e *entry) scan(line []byte) (ok bool) {
	*e = entry{}
	var version, number int64
	var word []byte
	c := cursor{text: line}
	c.need('{')
	for first := true; c.next('}', &first); {
		switch string(c.name()) {
		case "v":
			version = c.integer()
		case "run":
			e.run = c.str()
		case fieldQueue:
			e.queue = c.str()
		case "line":
			number = c.integer()
		case fieldGroup:
			e.group = c.str()
		case "id":
			e.id = c.str()
		case fieldDigest:
			e.digest = c.str()
		case "attempts":
			e.attempts(&c)
		case fieldMessage:
			e.message = c.str()
		case fieldSequence:
			e.sequence = c.str()
		case "outcome":
			word = c.str()
		case "source", "copy", "reason", "original", "warning":
			c.skip()
		default:
			return false // a later version's, or another case of letters
		}
	}
	c.end()
	var known bool
	e.outcome, known = outcomes[string(word)]
	return !c.bad && known && version == 1 && number >= 1 && len(e.run) > 0 && len(e.id) > 0
}

func (e *entry) attempts(c *cursor) {
	c.need('[')
	for n, first := 0, true; c.next(']', &first); n++ {
		var start, end int64
		ok := true
		c.need('{')
		for inner := true; c.next('}', &inner); {
			switch string(c.name()) {
			case "start":
				start, ok = parseTime(c.str())
			case "end":
				if text := c.strOrNull(); text != nil && !c.bad {
					var fine bool
					end, fine = parseTime(text)
					ok = ok && fine
				}
			case "start_ns", "end_ns", "error":
				c.skip()
			default:
				c.bad = true
			}
		}
		if n == 0 {
			e.start = start
		}
		e.end = end
		c.bad = c.bad || !ok
	}
}
