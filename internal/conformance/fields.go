package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fifoproof/internal/contenthash"
	"fifoproof/internal/producer"
)

// Cell is what became of one change of a field.
type Cell string

// What a cell can say; a change that the producer refuses says why instead.
const (
	NewMessage    Cell = "new message"
	DuplicateCell Cell = "duplicate"
	NotApplicable Cell = "-"
)

// Field is one field of a body, and what becomes of the message when it changes.
type Field struct {
	Pointer string `json:"pointer"` // JSON pointer; "" is the whole body
	Kind    string `json:"kind"`    // string, number, boolean, null, object or array
	Changed Cell   `json:"changed"` // another value of the same kind (null: false)
	Added   Cell   `json:"added"`   // objects and arrays: one member or element more
	Removed Cell   `json:"removed"`
}

// FieldMatrix is the answer for all fields of a body.
type FieldMatrix struct {
	Target  Target   `json:"target"`
	ID      string   `json:"deduplication_id"` // of the body as it is
	Exclude []string `json:"exclude,omitempty"`
	Fields  []Field  `json:"fields"`
	// Wrong are the changes in which the endpoint did not do what the ids demand.
	Wrong []string `json:"wrong,omitempty"`
}

// ErrNoFence is returned where the endpoint did not give out the fence, so that
// nothing can be said of what did not arrive.
var ErrNoFence = fmt.Errorf("%w: a fresh message behind the changes did not arrive, so nothing is proved", errPremise)

// Fields sends a body and then each change of each of its fields through the
// producer to a queue of its own, and reads what is delivered.
func Fields(ctx context.Context, setup Setup, body []byte, options contenthash.Options) (*FieldMatrix, error) {
	hash, err := contenthash.New(options)
	if err != nil {
		return nil, err
	}
	id, err := hash.ID(body, "")
	if err != nil {
		return nil, err
	}
	variants, fields, err := vary(body)
	if err != nil {
		return nil, err
	}
	m := &FieldMatrix{Target: setup.Target, ID: id, Exclude: options.Exclude, Fields: fields}

	spec := Case{ID: "fields", steps: func(ctx context.Context, b *Bench) error { return m.measure(ctx, b, hash, body, variants) }}
	a, err := newAttempt(setup, 0, spec, &journal{}, func(Event) {})
	if err != nil {
		return nil, fmt.Errorf("preparing the endpoint: %w", err)
	}
	err = a.only(ctx)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// only takes the case's steps once, outside of a run, and cleans up.
func (a *attempt) only(ctx context.Context) error {
	b := a.bench
	b.wire.reset()
	err := a.spec.steps(ctx, b)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	a.finish(after)
	for _, r := range a.mine {
		if r.Stop != nil && err == nil {
			err = errors.New(r.Stop.Reason)
		}
	}
	return err
}

// measure sends the body, settles it, then sends all variants and settles them.
func (m *FieldMatrix) measure(ctx context.Context, b *Bench, hash *contenthash.Hasher, body []byte, variants []variant) error {
	q, err := b.queueInUse(ctx, plain)
	if err != nil {
		return err
	}
	p, err := producer.New(producer.Config{Queue: q.url, Group: orders, Clock: b.clock, Hash: hash}, b.client)
	if err != nil {
		return fmt.Errorf("setting up the producer: %w", err)
	}
	var whole bytes.Buffer
	if err := json.Compact(&whole, body); err != nil {
		return fmt.Errorf("putting the body on one line: %w", err)
	}
	send := func(lines string) (records []producer.Record, err error) {
		q.uses(orders)
		input := producer.Input{Name: "fields", Reader: strings.NewReader(lines)}
		_, err = p.Run(ctx, []producer.Input{input}, func(r producer.Record) { records = append(records, r) })
		return records, err
	}
	settle := func() error {
		fenced, err := q.settle(ctx)
		if err == nil && !fenced {
			err = ErrNoFence
		}
		return err
	}
	if _, err := send(whole.String() + "\n"); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	before := len(b.wire.seen(q.url)) // what is delivered from here on comes from the variants
	var lines strings.Builder
	for _, v := range variants {
		lines.WriteString(v.body + "\n")
	}
	records, err := send(lines.String())
	if err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	m.fill(variants, records, b.wire.seen(q.url)[before:])
	return nil
}

// everyField is the steps of a case that changes each field of a body.
func everyField(body string) func(context.Context, *Bench) error {
	return func(ctx context.Context, b *Bench) error {
		hash, err := contenthash.New(contenthash.Options{})
		if err != nil {
			return err
		}
		id, err := hash.ID([]byte(body), "")
		if err != nil {
			return err
		}
		variants, fields, err := vary([]byte(body))
		if err != nil {
			return err
		}
		m := &FieldMatrix{ID: id, Fields: fields}
		if err := m.measure(ctx, b, hash, []byte(body), variants); err != nil {
			return err
		}
		b.record(Record{Fields: m.Fields})
		wrong := "none"
		if len(m.Wrong) > 0 {
			wrong = strings.Join(m.Wrong, ", ")
		}
		b.answer("changes that were no new message", "none", wrong)
		return nil
	}
}

// fill puts into the cells what became of each variant.
func (m *FieldMatrix) fill(variants []variant, records []producer.Record, deliveries []Delivery) {
	byID, byBody := map[string]bool{}, map[string]bool{}
	for _, d := range deliveries {
		byID[d.ID], byBody[d.BodyDigest] = true, true
	}
	for i, v := range variants {
		r := records[i]
		cell := m.Fields[v.field].cell(v.change)
		if r.Outcome == producer.Failed {
			*cell = Cell("refused: " + r.Reason)
			continue
		}
		// Two changes can come to one message, so another body's delivery under this
		// id counts, but for the id of the body itself.
		arrived := byBody[digestOf(v.body)] || r.ID != m.ID && byID[r.ID]
		*cell = DuplicateCell
		if arrived {
			*cell = NewMessage
		}
		if arrived != (r.ID != m.ID) {
			m.Wrong = append(m.Wrong, fmt.Sprintf("%s %s", name(m.Fields[v.field].Pointer), v.change))
		}
	}
}

func name(pointer string) string {
	if pointer == "" {
		return "(body)"
	}
	return pointer
}

func (f *Field) cell(c change) *Cell {
	switch c {
	case changed:
		return &f.Changed
	case added:
		return &f.Added
	default:
		return &f.Removed
	}
}
