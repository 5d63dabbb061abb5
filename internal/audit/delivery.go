package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fifoproof/internal/receipt"
)

// delivered is what an audit needs of a receipt. The texts are parts of the line.
type delivered struct {
	queue, message, group, id, sequence, digest []byte
	first                                       []byte // MessageId of the message that it is a redriven copy of
	consumer                                    []byte // who the effect is for; none: the queue's name
	rule, space, keyGroup, value, keyMessage    []byte // the consumer's key

	number         int64 // of the receipt
	count          int64
	sent, received int64 // nanoseconds since 1970; sent 0: not told
	kind           receiptKind

	// horizon is what the line tells in place of a receipt: receipts from before it may
	// have been forgotten. 0: it is a receipt.
	horizon int64
}

// kinds are the consumer's words.
var kinds = map[string]receiptKind{
	string(receipt.Fresh):       fresh,
	string(receipt.Redelivered): redelivered,
	string(receipt.Repeated):    repeated,
	string(receipt.Rejected):    rejected,
	string(receipt.Pending):     pending,
	string(receipt.Failed):      failedAttempt,
}

// receiptLine is a line of 'consumer receipts --json', as docs/receipts.md has it.
type receiptLine struct {
	Receipt        int64        `json:"receipt"`
	Kind           receipt.Kind `json:"kind"`
	Queue          string       `json:"queue"`
	MessageID      string       `json:"message_id"`
	RedrivenID     string       `json:"redriven_id"`
	Group          string       `json:"group"`
	DedupID        string       `json:"dedup_id"`
	SequenceNumber string       `json:"sequence_number"`
	ReceiveCount   int64        `json:"receive_count"`
	BodyDigest     string       `json:"body_digest"`
	Consumer       string       `json:"consumer"`
	Key            struct {
		Rule     string `json:"rule"`
		Consumer string `json:"consumer"`
		Space    string `json:"space"`
		Group    string `json:"group"`
		Value    string `json:"value"`
		Message  string `json:"message"`
	} `json:"key"`
	SentAt     time.Time `json:"sent_at"`
	ReceivedAt time.Time `json:"received_at"`
	Horizon    time.Time `json:"horizon"`
}

func (l *receiptLine) receipt() receipt.Receipt {
	return receipt.Receipt{ID: l.Receipt, Kind: l.Kind, Delivery: receipt.Delivery{
		Queue: l.Queue, MessageID: l.MessageID, OriginID: l.RedrivenID, Group: l.Group, DedupID: l.DedupID,
		SequenceNumber: l.SequenceNumber, ReceiveCount: int(l.ReceiveCount), BodyDigest: l.BodyDigest,
		SentAt: l.SentAt, ReceivedAt: l.ReceivedAt,
		Key: receipt.Key{
			Rule: l.Key.Rule, Consumer: cmp.Or(l.Key.Consumer, l.Consumer), Space: l.Key.Space, Group: l.Key.Group,
			Value: l.Key.Value, Message: l.Key.Message,
		},
	}}
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
	if horizon, ok := nanoseconds(slow.Horizon); ok && slow.Queue == "" {
		*d = delivered{horizon: horizon}
		return nil
	}
	switch _, known := kinds[string(slow.Kind)]; {
	case slow.Queue == "" || slow.ReceivedAt.IsZero():
		return errors.New("a receipt without queue or received_at")
	case !known:
		return fmt.Errorf("unknown kind of receipt %.20q", slow.Kind)
	}
	d.from(slow.receipt())
	return nil
}

// from takes the fields of a receipt in memory.
func (d *delivered) from(r receipt.Receipt) {
	*d = delivered{
		queue: []byte(r.Queue), message: []byte(r.MessageID), group: []byte(r.Group), id: []byte(r.DedupID),
		sequence: []byte(r.SequenceNumber), digest: []byte(r.BodyDigest), first: []byte(r.OriginID),
		consumer: []byte(r.Key.Consumer), rule: []byte(r.Key.Rule), space: []byte(r.Key.Space),
		keyGroup: []byte(r.Key.Group), value: []byte(r.Key.Value), keyMessage: []byte(r.Key.Message),
		number: r.ID, count: int64(r.ReceiveCount), kind: kinds[string(r.Kind)],
	}
	d.sent, _ = nanoseconds(r.SentAt)
	d.received, _ = nanoseconds(r.ReceivedAt)
}

// scan reads a line the quick way.
func (d *delivered) scan(line []byte) (ok bool) {
	*d = delivered{}
	var word, consumer []byte
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
		case "redriven_id":
			d.first = c.str()
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
		case fieldConsumer:
			consumer = c.str()
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
	if len(d.consumer) == 0 {
		d.consumer = consumer
	}
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
		case fieldConsumer:
			d.consumer = c.str()
		case "space":
			d.space = c.str()
		case fieldGroup:
			d.keyGroup = c.str()
		case "value":
			d.value = c.str()
		case "message":
			d.keyMessage = c.str()
		default:
			c.skip()
		}
	}
}
