-- Leases, attempts, consumers' names and fingerprints. Ids are never used twice from
-- here on, since receipts and keys may be forgotten while effects stay.
--
-- What release 1 wrote is carried over: its consumer was always named for the queue,
-- every key of its inbox is done, and what deliveries of a key had to share was the
-- digest of the body.

-- +goose Up
CREATE TABLE receipts_2 (
    id                   INTEGER PRIMARY KEY AUTOINCREMENT,
    kind                 TEXT    NOT NULL DEFAULT 'pending'
                         CHECK (kind IN ('pending', 'fresh', 'redelivered', 'repeated', 'rejected', 'failed')),
    reason               TEXT    NOT NULL DEFAULT '',
    queue                TEXT    NOT NULL,
    consumer             TEXT    NOT NULL,
    message_id           TEXT    NOT NULL,
    origin_id            TEXT    NOT NULL,
    identity             TEXT    NOT NULL,
    message_group        TEXT    NOT NULL,
    dedup_id             TEXT    NOT NULL,
    sequence_number      TEXT    NOT NULL,
    receive_count        INTEGER NOT NULL,
    body_digest          TEXT    NOT NULL,
    fingerprint          TEXT    NOT NULL,
    key_rule             TEXT    NOT NULL,
    key_space            TEXT    NOT NULL,
    key_group            TEXT    NOT NULL,
    key_value            TEXT    NOT NULL,
    key_message          TEXT    NOT NULL,
    inbox_id             INTEGER,
    sent_at_ns           INTEGER,
    received_at_ns       INTEGER NOT NULL,
    first_message_id     TEXT    NOT NULL DEFAULT '',
    first_received_at_ns INTEGER,
    attempt              INTEGER NOT NULL DEFAULT 0,
    worker               TEXT    NOT NULL DEFAULT '',
    started_at_ns        INTEGER,
    ended_at_ns          INTEGER
) STRICT;

INSERT INTO receipts_2 (id, kind, reason, queue, consumer, message_id, origin_id, identity, message_group, dedup_id,
    sequence_number, receive_count, body_digest, fingerprint, key_rule, key_space, key_group, key_value, key_message, inbox_id,
    sent_at_ns, received_at_ns, first_message_id, first_received_at_ns)
SELECT r.id, r.kind, r.reason, r.queue, CASE WHEN r.key_value = '' THEN '' ELSE r.queue END, r.message_id, '', r.message_id,
    r.message_group, r.dedup_id, r.sequence_number, r.receive_count, r.body_digest, r.body_digest,
    r.key_rule, r.key_space, r.key_group, r.key_value, '', i.id,
    r.sent_at_ns, r.received_at_ns, r.first_message_id, r.first_received_at_ns
FROM receipts AS r LEFT JOIN inbox AS i
    ON i.queue = r.queue AND i.key_space = r.key_space AND i.key_group = r.key_group AND i.key_value = r.key_value
ORDER BY r.id;

-- The key is the encoded one: a version, then every part behind its length in bytes.
CREATE TABLE inbox_2 (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    key              BLOB    NOT NULL UNIQUE,
    consumer         TEXT    NOT NULL,
    key_space        TEXT    NOT NULL,
    key_group        TEXT    NOT NULL,
    key_value        TEXT    NOT NULL,
    key_message      TEXT    NOT NULL,
    state            TEXT    NOT NULL CHECK (state IN ('open', 'leased', 'done')),
    token            TEXT    NOT NULL,
    lease_until_ns   INTEGER,
    worker           TEXT    NOT NULL,
    fingerprint      TEXT    NOT NULL,
    result           BLOB    NOT NULL DEFAULT x'',
    receipt_id       INTEGER NOT NULL,
    message_id       TEXT    NOT NULL,
    received_at_ns   INTEGER NOT NULL,
    last_delivery_ns INTEGER NOT NULL
) STRICT;

INSERT INTO inbox_2 (id, key, consumer, key_space, key_group, key_value, key_message, state, token, worker,
    fingerprint, receipt_id, message_id, received_at_ns, last_delivery_ns)
SELECT i.id,
    CAST('1'
        || printf('%08x', length(CAST(i.queue AS BLOB))) || i.queue
        || printf('%08x', length(CAST(i.key_space AS BLOB))) || i.key_space
        || printf('%08x', length(CAST(i.key_group AS BLOB))) || i.key_group
        || printf('%08x', length(CAST(i.key_value AS BLOB))) || i.key_value
        || '00000000' AS BLOB),
    i.queue, i.key_space, i.key_group, i.key_value, '', 'done', '', '',
    coalesce(r.body_digest, ''), i.receipt_id, i.message_id, i.received_at_ns, max(i.received_at_ns, coalesce(d.last, 0))
FROM inbox AS i
LEFT JOIN receipts AS r ON r.id = i.receipt_id
LEFT JOIN (SELECT inbox_id, max(received_at_ns) AS last FROM receipts_2 WHERE inbox_id IS NOT NULL GROUP BY inbox_id) AS d
    ON d.inbox_id = i.id
ORDER BY i.id;

CREATE TABLE effects_2 (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    inbox_id        INTEGER NOT NULL UNIQUE, -- the row there may be forgotten
    consumer        TEXT    NOT NULL,
    queue           TEXT    NOT NULL,
    message_group   TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    sequence_number TEXT    NOT NULL,
    key_value       TEXT    NOT NULL,
    received_at_ns  INTEGER NOT NULL
) STRICT;

INSERT INTO effects_2 (id, inbox_id, consumer, queue, message_group, message_id, sequence_number, key_value, received_at_ns)
SELECT id, inbox_id, queue, queue, message_group, message_id, sequence_number, key_value, received_at_ns
FROM effects ORDER BY id;

DROP TABLE effects;
DROP TABLE inbox;
DROP TABLE receipts;
ALTER TABLE receipts_2 RENAME TO receipts;
ALTER TABLE inbox_2 RENAME TO inbox;
ALTER TABLE effects_2 RENAME TO effects;

-- Finds a message's attempts, and whether it was done before.
CREATE INDEX receipts_identity ON receipts (identity);

-- Up to when receipts and keys were forgotten: one row, NULL as long as none were.
CREATE TABLE reaped (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    horizon_ns INTEGER
) STRICT;
INSERT INTO reaped VALUES (1, NULL);
