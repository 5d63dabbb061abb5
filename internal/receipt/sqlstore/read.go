package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"fifoproof/internal/receipt"
)

// page is how many receipts are read at once. Between two pages the database is
// free, however slowly the caller reads.
const page = 500

const selectReceipts = `SELECT id, kind, reason, queue, message_id, origin_id, message_group, dedup_id, sequence_number,
 receive_count, body_digest, fingerprint, key_rule, consumer, key_space, key_group, key_value, key_message, sent_at_ns, received_at_ns,
 first_message_id, first_received_at_ns, attempt, worker, started_at_ns, ended_at_ns
FROM receipts WHERE `

// Receipts yields the receipts that are there when it is called, by id.
func (s *Store) Receipts(ctx context.Context, filter receipt.Filter) iter.Seq2[receipt.Receipt, error] {
	return func(yield func(receipt.Receipt, error) bool) {
		var last, newest int64
		if err := s.look(ctx, `SELECT coalesce(max(id), 0) FROM receipts`, &newest); err != nil {
			yield(receipt.Receipt{}, fmt.Errorf("reading the receipts of %s: %w", s.driver.Where, err))
			return
		}
		conditions, args := s.where(filter)
		for last < newest {
			query := selectReceipts + `id > $1 AND id <= $2` + conditions + fmt.Sprintf(` ORDER BY id LIMIT %d`, page)
			rows, err := s.read(ctx, query, append([]any{last, newest}, args...)...)
			if err != nil {
				yield(receipt.Receipt{}, fmt.Errorf("reading the receipts of %s: %w", s.driver.Where, err))
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

// where is a filter's conditions; their parameters begin with $3.
func (s *Store) where(filter receipt.Filter) (conditions string, args []any) {
	var b strings.Builder
	parameter := func(value any) string {
		args = append(args, value)
		return fmt.Sprintf("$%d", len(args)+2)
	}
	if len(filter.Kinds) > 0 {
		kinds := make([]string, len(filter.Kinds))
		for i, kind := range filter.Kinds {
			kinds[i] = parameter(string(kind))
		}
		b.WriteString(` AND kind IN (` + strings.Join(kinds, ", ") + `)`)
	}
	for _, equal := range []struct{ column, value string }{
		{"queue", filter.Queue}, {"message_group", filter.Group}, {"key_value", filter.Key},
	} {
		if equal.value != "" {
			b.WriteString(` AND ` + equal.column + ` = ` + parameter(s.driver.Text(equal.value)))
		}
	}
	if filter.Message != "" {
		message := parameter(s.driver.Text(filter.Message))
		b.WriteString(` AND (message_id = ` + message + ` OR origin_id = ` + message + `)`)
	}
	if !filter.Since.IsZero() {
		b.WriteString(` AND received_at_ns >= ` + parameter(filter.Since.UnixNano()))
	}
	if !filter.Until.IsZero() {
		b.WriteString(` AND received_at_ns < ` + parameter(filter.Until.UnixNano()))
	}
	return b.String(), args
}

// Message reads what is on record of a message, by id.
func (s *Store) Message(ctx context.Context, identity string) ([]receipt.Receipt, error) {
	found, err := s.read(ctx, selectReceipts+`identity = $1 ORDER BY id`, s.driver.Text(identity))
	if err != nil {
		return nil, fmt.Errorf("reading the receipts of message %s in %s: %w", identity, s.driver.Where, err)
	}
	return found, nil
}

func (s *Store) read(ctx context.Context, query string, args ...any) (found []receipt.Receipt, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		r, err := scan(rows)
		found = append(found, r)
		return err
	}, query, args...)
	return found, err
}

// each calls one for every row.
func (s *Store) each(ctx context.Context, one func(*sql.Rows) error, query string, args ...any) error {
	return s.driver.Direct(ctx, func(tx receipt.Tx) (err error) {
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			if err := one(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// look reads one row.
func (s *Store) look(ctx context.Context, query string, into ...any) error {
	return s.driver.Direct(ctx, func(tx receipt.Tx) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, query).Scan(into...)
	})
}

func scan(rows *sql.Rows) (receipt.Receipt, error) {
	var r receipt.Receipt
	var sent, received, first, started, ended sql.NullInt64
	err := rows.Scan(&r.ID, &r.Kind, &r.Reason, &r.Queue, &r.MessageID, &r.OriginID, &r.Group, &r.DedupID, &r.SequenceNumber,
		&r.ReceiveCount, &r.BodyDigest, &r.Fingerprint, &r.Key.Rule, &r.Key.Consumer, &r.Key.Space, &r.Key.Group, &r.Key.Value,
		&r.Key.Message, &sent, &received, &r.First.MessageID, &first, &r.Attempt.Number, &r.Attempt.Worker, &started, &ended)
	r.SentAt, r.ReceivedAt, r.First.ReceivedAt = instant(sent), instant(received), instant(first)
	r.Attempt.Started, r.Attempt.Ended = instant(started), instant(ended)
	return r, err
}

// Counts counts in one statement, so that receipts and effects are of one moment.
func (s *Store) Counts(ctx context.Context) (counts receipt.Counts, err error) {
	err = s.each(ctx, func(rows *sql.Rows) error {
		var kind string
		var n int64
		if err := rows.Scan(&kind, &n); err != nil {
			return err
		}
		if kind == "effects" {
			counts.Effects = n
		} else {
			counts.Add(receipt.Kind(kind), n)
		}
		return nil
	}, `SELECT kind, count(*) FROM receipts GROUP BY kind UNION ALL SELECT 'effects', count(*) FROM effects`)
	if err != nil {
		return receipt.Counts{}, fmt.Errorf("counting the receipts of %s: %w", s.driver.Where, err)
	}
	return counts, nil
}

// Horizon reads up to when receipts were forgotten.
func (s *Store) Horizon(ctx context.Context) (time.Time, error) {
	var horizon sql.NullInt64
	if err := s.look(ctx, `SELECT max(horizon_ns) FROM reaped`, &horizon); err != nil {
		return time.Time{}, fmt.Errorf("reading the horizon of %s: %w", s.driver.Where, err)
	}
	return instant(horizon), nil
}
