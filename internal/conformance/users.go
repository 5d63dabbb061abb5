package conformance

import (
	"context"
	"fmt"
	"strings"

	"fifoproof/internal/consumer"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/producer"
	"fifoproof/internal/receipt"
)

// orders is the message group of the cases that go through producer and consumer.
const orders = "orders"

// users are the producer and the consumer that people run, at work on one queue.
type users struct {
	queue    *queue
	producer *producer.Producer
	consumer *consumer.Consumer
	store    receipt.Store
}

// queueInUse makes a queue with a producer and a consumer at work on it.
func (b *Bench) queueInUse(ctx context.Context, extra attributes) (*queue, error) {
	q, err := b.queue(ctx, extra)
	if err != nil {
		return nil, err
	}
	u := &users{queue: q}
	if u.store, err = b.store(ctx); err != nil {
		return nil, fmt.Errorf("opening a receipt store: %w", err)
	}
	q.users = u
	if u.producer, err = producer.New(producer.Config{Queue: q.url, Group: orders, Clock: b.clock}, b.client); err != nil {
		return nil, fmt.Errorf("setting up the producer: %w", err)
	}
	u.consumer, err = consumer.New(consumer.Config{Queue: q.url, Visibility: visibility, Wait: longPoll, Clock: b.clock}, b.client, u.store)
	if err != nil {
		return nil, fmt.Errorf("setting up the consumer: %w", err)
	}
	return q, nil
}

// ordering is one body to be sent by the producer, in a run and so in a call of its
// own.
func (q *queue) ordering(ctx context.Context, body string) func() error {
	return func() error { return q.users.send(ctx, body) }
}

func (u *users) send(ctx context.Context, body string) error {
	u.queue.uses(orders)
	input := producer.Input{Name: "case", Reader: strings.NewReader(body + "\n")}
	records := 0
	_, err := u.producer.Run(ctx, []producer.Input{input}, func(producer.Record) { records++ })
	if err != nil {
		return fmt.Errorf("the producer: %w", err)
	}
	if records != 1 {
		return fmt.Errorf("the producer reports %d messages for one line", records)
	}
	return nil
}

// contentID is the deduplication ID that the producer makes of a body.
func contentID(body string) (string, error) {
	hash, err := contenthash.New(contenthash.Options{})
	if err != nil {
		return "", fmt.Errorf("making the content hash: %w", err)
	}
	return hash.ID([]byte(body), "")
}

// compare holds the consumer's receipts against what the wire saw. A consumer hides
// duplicates, that is its job; it must not hide them from the receipts.
func (b *Bench) compare(ctx context.Context) error {
	for _, q := range b.queues {
		if q.users == nil {
			continue
		}
		receipts, err := receipt.Collect(q.users.store.Receipts(ctx, receipt.Filter{}))
		if err != nil {
			return fmt.Errorf("reading the receipts: %w", err)
		}
		if flaw := disagreement(receipts, b.wire.seen(q.url)); flaw != "" {
			b.record(Record{Flaw: flaw})
		}
	}
	return nil
}

// disagreement tells the first delivery about which receipts and wire differ.
func disagreement(receipts []receipt.Receipt, deliveries []Delivery) string {
	for i, d := range deliveries {
		if i == len(receipts) {
			return fmt.Sprintf("the wire saw %d deliveries, the consumer has %d receipts", len(deliveries), len(receipts))
		}
		r := receipts[i]
		if r.MessageID != d.MessageID || r.Group != d.Group || r.DedupID != d.ID || r.SequenceNumber != d.Sequence {
			return fmt.Sprintf("delivery %d was message %s on the wire, %s in the receipts", i+1, d.MessageID, r.MessageID)
		}
	}
	if len(receipts) > len(deliveries) {
		return fmt.Sprintf("the wire saw %d deliveries, the consumer has %d receipts", len(deliveries), len(receipts))
	}
	return ""
}

// oneEffect checks that all deliveries but the fences were one effect.
func (q *queue) oneEffect(ctx context.Context) error {
	counts, err := q.users.store.Counts(ctx)
	if err != nil {
		return fmt.Errorf("counting the effects: %w", err)
	}
	fences := int64(q.bench.fences)
	if effects := counts.Effects - fences; effects != 1 {
		q.bench.record(Record{Flaw: fmt.Sprintf("the consumer had %d effects of one body, not 1", effects)})
	}
	return nil
}
