package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"

	"fifoproof/internal/receipt"
)

// page is how many receipts are read at once. Between two pages the database is
// free, however slowly the caller reads.
const page = 500

const selectReceipts = `SELECT id, kind, reason, queue, message_id, message_group, dedup_id, sequence_number,
 receive_count, body_digest, key_rule, key_space, key_group, key_value, sent_at_ns, received_at_ns,
 first_message_id, first_received_at_ns
FROM receipts WHERE id > ? AND id <= ?`

// Receipts yields the receipts that are there when it is called, by id.
func (s *Store) Receipts(ctx context.Context, filter receipt.Filter) iter.Seq2[receipt.Receipt, error] {
	return func(yield func(receipt.Receipt, error) bool) {
		var last, newest int64
		if err := s.db.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM receipts`).Scan(&newest); err != nil {
			yield(receipt.Receipt{}, fmt.Errorf("reading the receipts of %s: %w", s.path, err))
			return
		}
		for last < newest {
			rows, err := s.page(ctx, filter, last, newest)
			if err != nil {
				yield(receipt.Receipt{}, fmt.Errorf("reading the receipts of %s: %w", s.path, err))
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
				last = r.ID
			}
			if len(rows) < page {
				return
			}
		}
	}
}

func (s *Store) page(ctx context.Context, filter receipt.Filter, last, newest int64) (found []receipt.Receipt, err error) {
	query, args := selectReceipts, []any{last, newest}
	if n := len(filter.Kinds); n > 0 {
		query += ` AND kind IN (?` + strings.Repeat(`, ?`, n-1) + `)`
		for _, kind := range filter.Kinds {
			args = append(args, string(kind))
		}
	}
	rows, err := s.db.QueryContext(ctx, query+` ORDER BY id LIMIT ?`, append(args, page)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

func scan(rows *sql.Rows) (receipt.Receipt, error) {
	var r receipt.Receipt
	var sent, received, first sql.NullInt64
	err := rows.Scan(&r.ID, &r.Kind, &r.Reason, &r.Queue, &r.MessageID, &r.Group, &r.DedupID, &r.SequenceNumber,
		&r.ReceiveCount, &r.BodyDigest, &r.Key.Rule, &r.Key.Space, &r.Key.Group, &r.Key.Value, &sent, &received,
		&r.First.MessageID, &first)
	r.SentAt, r.ReceivedAt, r.First.ReceivedAt = instant(sent), instant(received), instant(first)
	return r, err
}

// Counts counts in one statement, so that receipts and effects are of one moment.
func (s *Store) Counts(ctx context.Context) (counts receipt.Counts, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("counting the receipts of %s: %w", s.path, err)
		}
	}()
	rows, err := s.db.QueryContext(ctx,
		`SELECT kind, count(*) FROM receipts GROUP BY kind UNION ALL SELECT 'effects', count(*) FROM effects`)
	if err != nil {
		return receipt.Counts{}, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var kind string
		var n int64
		if err := rows.Scan(&kind, &n); err != nil {
			return receipt.Counts{}, err
		}
		if kind == "effects" {
			counts.Effects = n
			continue
		}
		counts.Add(receipt.Kind(kind), n)
	}
	return counts, rows.Err()
}
