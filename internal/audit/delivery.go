package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fifoproof/internal/receipt"
)

// delivered is what an audit needs of a receipt. The texts are parts of the line.
type delivered struct {
	queue, message, group, id, sequence, digest []byte
	rule, space, keyGroup, value                []byte // the consumer's key

	number         int64 // of the receipt
	count          int64
	sent, received int64 // nanoseconds since 1970; sent 0: not told
	kind           receiptKind
}

// kinds are the consumer's words.
var kinds = map[string]receiptKind{
	string(receipt.Fresh):       fresh,
	string(receipt.Redelivered): redelivered,
	string(receipt.Repeated):    repeated,
	string(receipt.Rejected):    rejected,
	string(receipt.Pending):     pending,
}

// receiptLine is a line of 'consumer receipts --json', as docs/receipts.md has it.
type receiptLine struct {
	Receipt        int64        `json:"receipt"`
	Kind           receipt.Kind `json:"kind"`
	Queue          string       `json:"queue"`
	MessageID      string       `json:"message_id"`
	Group          string       `json:"group"`
	DedupID        string       `json:"dedup_id"`
	SequenceNumber string       `json:"sequence_number"`
	ReceiveCount   int64        `json:"receive_count"`
	BodyDigest     string       `json:"body_digest"`
	Key            struct {
		Rule  string `json:"rule"`
		Space string `json:"space"`
		Group string `json:"group"`
		Value string `json:"value"`
	} `json:"key"`
	SentAt     time.Time `json:"sent_at"`
	ReceivedAt time.Time `json:"received_at"`
}

// errNoReceipt is about a line that is no JSON object, as one that was cut off.
var errNoReceipt = errors.New("no receipt in JSON")

// parse reads a line of receipts. What the quick way does not understand goes to
// encoding/json.
func (d *delivered) parse(line []byte) error {
	if d.scan(line) {
		return nil
	}
	if !json.Valid(line) {
		return errNoReceipt
	}
	var slow receiptLine
	if err := json.Unmarshal(line, &slow); err != nil {
		return fmt.Errorf("another JSON value than a receipt: %w", err)
	}
	switch _, known := kinds[string(slow.Kind)]; {
	case slow.Queue == "" || slow.ReceivedAt.IsZero():
		return errors.New("a receipt without queue or received_at")
	case !known:
		return fmt.Errorf("unknown kind of receipt %.20q", slow.Kind)
	}
	d.from(receipt.Receipt{ID: slow.Receipt, Kind: slow.Kind, Delivery: receipt.Delivery{
		Queue: slow.Queue, MessageID: slow.MessageID, Group: slow.Group, DedupID: slow.DedupID,
		SequenceNumber: slow.SequenceNumber, ReceiveCount: int(slow.ReceiveCount), BodyDigest: slow.BodyDigest,
		SentAt: slow.SentAt, ReceivedAt: slow.ReceivedAt,
		Key: receipt.Key{Rule: slow.Key.Rule, Space: slow.Key.Space, Group: slow.Key.Group, Value: slow.Key.Value},
	}})
	return nil
}

// from takes the fields of a receipt in memory.
func (d *delivered) from(r receipt.Receipt) {
	*d = delivered{
		queue: []byte(r.Queue), message: []byte(r.MessageID), group: []byte(r.Group), id: []byte(r.DedupID),
		sequence: []byte(r.SequenceNumber), digest: []byte(r.BodyDigest),
		rule: []byte(r.Key.Rule), space: []byte(r.Key.Space), keyGroup: []byte(r.Key.Group), value: []byte(r.Key.Value),
		number: r.ID, count: int64(r.ReceiveCount), kind: kinds[string(r.Kind)],
	}
	d.sent, _ = nanoseconds(r.SentAt)
	d.received, _ = nanoseconds(r.ReceivedAt)
}

// scan reads a line the quick way.
func (d *delivered) scan(line []byte) (ok bool) {
	*d = delivered{}
	var word []byte
	c := cursor{text: line}
	times := true
	c.need('{')
	for first := true; c.next('}', &first); {
		switch string(c.name()) {
		case "receipt":
			d.number = c.integer()
		case "kind":
			word = c.str()
		case fieldQueue:
			d.queue = c.str()
		case fieldMessage:
			d.message = c.str()
		case fieldGroup:
			d.group = c.str()
		case "dedup_id":
			d.id = c.str()
		case fieldSequence:
			d.sequence = c.str()
		case "receive_count":
			d.count = c.integer()
		case fieldDigest:
			d.digest = c.str()
		case "key":
			d.key(&c)
		case "sent_at":
			d.sent, ok = parseTime(c.str())
			times = times && ok
		case "received_at":
			d.received, ok = parseTime(c.str())
			times = times && ok
		default:
			c.skip()
		}
	}
	c.end()
	var known bool
	d.kind, known = kinds[string(word)]
	return !c.bad && times && known && d.received != 0 && len(d.queue) > 0
}

func (d *delivered) key(c *cursor) {
	c.need('{')
	for first := true; c.next('}', &first); {
		switch string(c.name()) {
		case "rule":
			d.rule = c.str()
		case "space":
			d.space = c.str()
		case fieldGroup:
			d.keyGroup = c.str()
		case "value":
			d.value = c.str()
		default:
			c.skip()
		}
	}
}
