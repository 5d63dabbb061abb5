-- All times are integers: nanoseconds since 1970-01-01T00:00:00Z.
-- Described in docs/receipts.md.

-- +goose Up
CREATE TABLE receipts (
    id                   INTEGER PRIMARY KEY,
    kind                 TEXT    NOT NULL CHECK (kind IN ('pending', 'fresh', 'redelivered', 'repeated', 'rejected')),
    reason               TEXT    NOT NULL DEFAULT '',
    queue                TEXT    NOT NULL,
    message_id           TEXT    NOT NULL,
    message_group        TEXT    NOT NULL,
    dedup_id             TEXT    NOT NULL,
    sequence_number      TEXT    NOT NULL,
    receive_count        INTEGER NOT NULL,
    body_digest          TEXT    NOT NULL,
    key_rule             TEXT    NOT NULL,
    key_space            TEXT    NOT NULL,
    key_group            TEXT    NOT NULL,
    key_value            TEXT    NOT NULL,
    sent_at_ns           INTEGER,
    received_at_ns       INTEGER NOT NULL,
    first_message_id     TEXT    NOT NULL DEFAULT '',
    first_received_at_ns INTEGER
) STRICT;

-- Finds out whether a message was completed before.
CREATE INDEX receipts_message ON receipts (message_id);

CREATE TABLE inbox (
    id             INTEGER PRIMARY KEY,
    queue          TEXT    NOT NULL,
    key_space      TEXT    NOT NULL,
    key_group      TEXT    NOT NULL,
    key_value      TEXT    NOT NULL,
    receipt_id     INTEGER NOT NULL REFERENCES receipts (id),
    message_id     TEXT    NOT NULL,
    received_at_ns INTEGER NOT NULL,
    UNIQUE (queue, key_space, key_group, key_value)
) STRICT;

CREATE TABLE effects (
    id              INTEGER PRIMARY KEY,
    inbox_id        INTEGER NOT NULL UNIQUE REFERENCES inbox (id),
    queue           TEXT    NOT NULL,
    message_group   TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    sequence_number TEXT    NOT NULL,
    key_value       TEXT    NOT NULL,
    received_at_ns  INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE effects;
DROP TABLE inbox;
DROP TABLE receipts;
