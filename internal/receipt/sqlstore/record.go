package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"fifoproof/internal/receipt"
)

// Record commits the receipts of one reply in one transaction.
func (s *Store) Record(ctx context.Context, deliveries []receipt.Delivery) ([]int64, error) {
	ids := make([]int64, 0, len(deliveries))
	if len(deliveries) == 0 {
		return ids, nil
	}
	atomically := s.transact
	if s.driver.Server && len(deliveries) < len(s.sql.insert) {
		atomically = s.direct // it is one statement
	}
	err := atomically(ctx, func(tx receipt.Tx) error {
		ids = ids[:0]
		for rest := deliveries; len(rest) > 0; {
			n := min(len(rest), len(s.sql.insert)-1)
			added, err := s.write(ctx, tx, rest[:n])
			if err != nil {
				return err
			}
			ids, rest = append(ids, added...), rest[n:]
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("writing %d receipts to %s: %w", len(deliveries), s.driver.Where, err)
	}
	return ids, nil
}

func (s *Store) write(ctx context.Context, tx receipt.Tx, deliveries []receipt.Delivery) ([]int64, error) {
	if !s.driver.Server {
		id, err := s.insert(ctx, tx, s.sql.insert[1], s.values(deliveries[0])...)
		return []int64{id}, err // 0: the planted fault let it vanish
	}
	args := make([]any, 0, columnCount*len(deliveries))
	for _, d := range deliveries {
		args = append(args, s.values(d)...)
	}
	rows, err := tx.QueryContext(ctx, s.sql.insert[len(deliveries)]+" RETURNING id", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // what it could say, rows.Err says below
	ids := make([]int64, 0, len(deliveries))
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(ids) != len(deliveries) {
		return nil, fmt.Errorf("the database answered %d ids for %d receipts", len(ids), len(deliveries))
	}
	return ids, nil
}

func (s *Store) values(d receipt.Delivery) []any {
	d = s.kept(d)
	return []any{
		d.Queue, d.Key.Consumer, d.MessageID, d.OriginID, d.Identity(), d.Group, d.DedupID, d.SequenceNumber, d.ReceiveCount,
		d.BodyDigest, d.Fingerprint, d.Key.Rule, d.Key.Space, d.Key.Group, d.Key.Value, d.Key.Message,
		nanos(d.SentAt), nanos(d.ReceivedAt),
	}
}

// kept is a delivery with its texts as the database keeps them.
func (s *Store) kept(d receipt.Delivery) receipt.Delivery {
	for _, text := range []*string{
		&d.Queue, &d.MessageID, &d.OriginID, &d.Group, &d.DedupID, &d.SequenceNumber, &d.BodyDigest, &d.Fingerprint,
		&d.Key.Rule, &d.Key.Consumer, &d.Key.Space, &d.Key.Group, &d.Key.Value, &d.Key.Message,
	} {
		*text = s.driver.Text(*text)
	}
	return d
}

// maxReason is how much of a reason is kept, in bytes: a handler's error may be a
// whole page.
const maxReason = 2000

// reason is a text for people, which may hold anything: what no database or terminal
// likes is replaced, and it is cut.
func reason(text string) string {
	text = Printable(text)
	if len(text) <= maxReason {
		return text
	}
	cut := maxReason - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Printable replaces what is no UTF-8, and NUL, by U+FFFD.
func Printable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}
