-- All times are integers: nanoseconds since 1970-01-01T00:00:00Z.
-- Described in docs/receipts.md.

-- +goose Up
CREATE TABLE receipts (
    id                   bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind                 text    NOT NULL DEFAULT 'pending'
                         CHECK (kind IN ('pending', 'fresh', 'redelivered', 'repeated', 'rejected', 'failed')),
    reason               text    NOT NULL DEFAULT '',
    queue                text    NOT NULL,
    consumer             text    NOT NULL,
    message_id           text    NOT NULL,
    origin_id            text    NOT NULL,
    identity             text    NOT NULL,
    message_group        text    NOT NULL,
    dedup_id             text    NOT NULL,
    sequence_number      text    NOT NULL,
    receive_count        bigint  NOT NULL,
    body_digest          text    NOT NULL,
    fingerprint          text    NOT NULL,
    key_rule             text    NOT NULL,
    key_space            text    NOT NULL,
    key_group            text    NOT NULL,
    key_value            text    NOT NULL,
    key_message          text    NOT NULL,
    inbox_id             bigint,
    sent_at_ns           bigint,
    received_at_ns       bigint  NOT NULL,
    first_message_id     text    NOT NULL DEFAULT '',
    first_received_at_ns bigint,
    attempt              bigint  NOT NULL DEFAULT 0,
    worker               text    NOT NULL DEFAULT '',
    started_at_ns        bigint,
    ended_at_ns          bigint
) WITH (fillfactor = 70); -- every receipt is written twice: room for the second beside the first

-- Finds a message's attempts, and whether it was done before.
CREATE INDEX receipts_identity ON receipts (identity);

-- The key is the encoded one: a version, then every part behind its length in bytes.
-- The columns after it are for people, who cannot be shown every byte.
CREATE TABLE inbox (
    id               bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key              bytea   NOT NULL UNIQUE,
    consumer         text    NOT NULL,
    key_space        text    NOT NULL,
    key_group        text    NOT NULL,
    key_value        text    NOT NULL,
    key_message      text    NOT NULL,
    state            text    NOT NULL CHECK (state IN ('open', 'leased', 'done')),
    token            text    NOT NULL,
    lease_until_ns   bigint,
    worker           text    NOT NULL,
    fingerprint      text    NOT NULL,
    result           bytea   NOT NULL DEFAULT '',
    receipt_id       bigint  NOT NULL,
    message_id       text    NOT NULL,
    received_at_ns   bigint  NOT NULL,
    last_delivery_ns bigint  NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE effects (
    id              bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    inbox_id        bigint  NOT NULL UNIQUE, -- the row there may be forgotten
    consumer        text    NOT NULL,
    queue           text    NOT NULL,
    message_group   text    NOT NULL,
    message_id      text    NOT NULL,
    sequence_number text    NOT NULL,
    key_value       text    NOT NULL,
    received_at_ns  bigint  NOT NULL
);

-- Up to when receipts and keys were forgotten: one row, NULL as long as none were.
CREATE TABLE reaped (
    id         bigint PRIMARY KEY CHECK (id = 1),
    horizon_ns bigint
);
INSERT INTO reaped VALUES (1, NULL);

-- +goose Down
DROP TABLE reaped;
DROP TABLE effects;
DROP TABLE inbox;
DROP TABLE receipts;
