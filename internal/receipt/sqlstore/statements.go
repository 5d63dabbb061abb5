package sqlstore

import (
	"fmt"
	"strings"
)

// statements are the texts for one driver. Parameters are $1, $2 …, which SQLite
// and PostgreSQL both take.
type statements struct {
	// insert[n] writes n receipts.
	insert []string

	// claimNew writes a claimed key where the key is not there.
	claimNew string
	// entry reads a key's row, takes it, and tells the time that leases are judged by.
	entry string
	// claimKnown writes a claim over a key's row.
	claimKnown string
	// delivered notes that a key was delivered again.
	delivered string
	// known tells whether a key is there, taken by somebody or not.
	known string
	// seen tells whether a message was done before under a key. A repeated message
	// that comes again is a redelivery of itself, so the key's own message is not the
	// only one to compare with.
	seen string
	// attempts reads the number of a message's last attempt.
	attempts string
	// start notes a claim on its receipt.
	start string
	// settle notes on a receipt what its delivery is.
	settle string

	// renew, complete and release are for whoever has the token, and hold locks its row.
	// held tells the state of a key whose last token this is.
	renew, hold, complete, release, held string
	// effect is what happens where the caller has no effect of its own.
	effect string
	// finish notes how an attempt ended; giveBack, that it counts as none.
	finish, giveBack string
	// putOff notes why nobody claimed a receipt, or that nobody ever will.
	putOff string

	// claimAtOnce is claimNew, attempts and start in one statement, completeAtOnce is
	// complete, effect and finish: what nearly every message needs, in two round trips
	// instead of nine. They do nothing where anything is otherwise than it should be.
	claimAtOnce, completeAtOnce string
}

// columns are what a delivery brings, in the order of [Store.values].
const columns = `queue, consumer, message_id, origin_id, identity, message_group, dedup_id, sequence_number, receive_count,
 body_digest, fingerprint, key_rule, key_space, key_group, key_value, key_message, sent_at_ns, received_at_ns`

const columnCount = 18

// texts fills in what drivers differ in. The time that leases are judged by is a
// parameter where it is the consumer's, and the parameter is NULL where the
// database's clock has to be asked.
func texts(d *Driver) statements {
	clock := d.Clock
	if clock == "" {
		clock = "NULL"
	}
	now := func(parameter string) string { return "coalesce(" + parameter + ", " + clock + ")" }
	rows, lock, skip := 1, "", ""
	if d.Server {
		rows = 10 // a full reply
		lock, skip = " FOR UPDATE", " FOR UPDATE SKIP LOCKED"
	}
	insert := make([]string, rows+1)
	for n := range insert {
		insert[n] = insertReceipts(n, d.Unique)
	}
	const claimed = `INSERT INTO inbox (key, consumer, key_space, key_group, key_value, key_message, state,
 token, lease_until_ns, worker, fingerprint, receipt_id, message_id, received_at_ns, last_delivery_ns)`
	return statements{
		insert: insert,

		claimNew: claimed + `
VALUES ($1, $2, $3, $4, $5, $6, 'leased', $7, ` + now("$8") + ` + $9, $10, $11, $12, $13, $14, $14)
ON CONFLICT DO NOTHING`,

		entry: `SELECT id, state, fingerprint, message_id, received_at_ns, lease_until_ns, worker, result, ` + now("$2") + `
FROM inbox WHERE key = $1` + skip,

		claimKnown: `UPDATE inbox SET state = 'leased', token = $2, lease_until_ns = ` + now("$3") + ` + $4, worker = $5,
 fingerprint = CASE WHEN fingerprint = '' THEN $6 ELSE fingerprint END, receipt_id = $7, message_id = $8, received_at_ns = $9,
 last_delivery_ns = CASE WHEN last_delivery_ns < $9 THEN $9 ELSE last_delivery_ns END
WHERE id = $1`,

		delivered: `UPDATE inbox SET last_delivery_ns = $2 WHERE id = $1 AND last_delivery_ns < $2`,

		known: `SELECT EXISTS (SELECT 1 FROM inbox WHERE key = $1)`,

		seen: `SELECT EXISTS (SELECT 1 FROM receipts
WHERE identity = $1 AND inbox_id = $2 AND id <> $3 AND kind IN ('fresh', 'redelivered', 'repeated'))`,

		attempts: `SELECT coalesce(max(attempt), 0) FROM receipts WHERE identity = $1 AND consumer = $2`,

		start: `UPDATE receipts SET inbox_id = $2, key_message = $3, reason = '', worker = $4, started_at_ns = $5, ended_at_ns = NULL, attempt = $6
WHERE id = $1 AND kind = 'pending'`,

		settle: `UPDATE receipts SET kind = $2, reason = $3, first_message_id = $4, first_received_at_ns = $5, inbox_id = $6, key_message = $7
WHERE id = $1 AND kind = 'pending'`,

		renew: `UPDATE inbox SET lease_until_ns = ` + now("$3") + ` + $4 WHERE key = $1 AND token = $2 AND state = 'leased'`,

		hold: `SELECT id FROM inbox WHERE key = $1 AND token = $2 AND state = 'leased'` + lock,

		complete: `UPDATE inbox SET state = 'done', lease_until_ns = NULL, result = $3
WHERE key = $1 AND token = $2 AND state = 'leased'`,

		release: `UPDATE inbox SET state = 'open', lease_until_ns = NULL WHERE key = $1 AND token = $2 AND state = 'leased'`,

		held: `SELECT state FROM inbox WHERE key = $1 AND token = $2`,

		effect: `INSERT INTO effects (inbox_id, consumer, queue, message_group, message_id, sequence_number, key_value, received_at_ns)
VALUES ((SELECT id FROM inbox WHERE key = $1), $2, $3, $4, $5, $6, $7, $8)`,

		finish: `UPDATE receipts SET kind = $2, reason = $3, ended_at_ns = $4 WHERE id = $1 AND kind = 'pending'`,

		giveBack: `UPDATE receipts SET reason = $2, attempt = 0, worker = '', started_at_ns = NULL, ended_at_ns = NULL
WHERE id = $1 AND kind = 'pending'`,

		putOff: `UPDATE receipts SET kind = $2, reason = $3 WHERE id = $1 AND kind = 'pending' AND attempt = 0`,

		claimAtOnce: `WITH own AS (SELECT id, identity, consumer FROM receipts WHERE id = $12 AND kind = 'pending' FOR UPDATE),
claim AS (` + claimed + `
 SELECT $1, $2, $3, $4, $5, $6, 'leased', $7, ` + now("$8") + ` + $9, $10, $11, $12, $13, $14, $14 FROM own
 ON CONFLICT DO NOTHING RETURNING id)
UPDATE receipts SET inbox_id = claim.id, key_message = $6, reason = '', worker = $10, started_at_ns = $15, ended_at_ns = NULL,
 attempt = 1 + (SELECT coalesce(max(every.attempt), 0) FROM receipts AS every
  WHERE every.identity = own.identity AND every.consumer = own.consumer)
FROM own, claim WHERE receipts.id = own.id RETURNING receipts.attempt`,

		completeAtOnce: `WITH own AS (SELECT id FROM receipts WHERE id = $3 AND kind = 'pending' FOR UPDATE),
done AS (UPDATE inbox SET state = 'done', lease_until_ns = NULL, result = $4 FROM own
 WHERE key = $1 AND token = $2 AND state = 'leased' RETURNING inbox.id),
noted AS (UPDATE receipts SET kind = 'fresh', reason = '', ended_at_ns = $5 FROM own, done WHERE receipts.id = own.id)
INSERT INTO effects (inbox_id, consumer, queue, message_group, message_id, sequence_number, key_value, received_at_ns)
SELECT id, $6, $7, $8, $9, $10, $11, $12 FROM done`,
	}
}

func insertReceipts(rows int, unique bool) string {
	var b strings.Builder
	b.WriteString("INSERT INTO receipts (" + columns + ") VALUES ")
	for row := range rows {
		if row > 0 {
			b.WriteString(", ")
		}
		for column := range columnCount {
			fmt.Fprintf(&b, "%c$%d", "(,"[min(column, 1)], row*columnCount+column+1)
		}
		b.WriteByte(')')
	}
	if unique {
		b.WriteString(" ON CONFLICT DO NOTHING")
	}
	return b.String()
}
