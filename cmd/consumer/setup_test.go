package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/emulator"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/driver"
	"fifoproof/internal/receipt/pgtest"
	"fifoproof/internal/target"
)

// The least retention is that of the queue and of its dead-letter queue, and a day: a
// message may lie in the second for its whole retention and then, redriven, in the first.
func TestRetention(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	queue, dead := target.Settings{Retention: 4 * day}, &target.Settings{Retention: 14 * day}
	require.Equal(t, 5*day, shortest(queue, nil))
	require.Equal(t, 19*day, shortest(queue, dead))

	for _, c := range []struct {
		flags consumeFlags
		note  string
		err   string
	}{
		{consumeFlags{}, "", ""},
		{consumeFlags{Retention: 19 * day}, "keys are forgotten 19 days after their last delivery; 19 days are needed", ""},
		{consumeFlags{Retention: 19*day - 1}, "", "--retention 455h59m59.999999999s is too short"},
		{consumeFlags{Retention: time.Hour, ShortRetention: true}, "warning: keys are forgotten 1h0m0s after their last delivery, and a message may come back for 19 days", ""},
	} {
		note, err := checkRetention(c.flags, shortest(queue, dead))
		require.Contains(t, note, c.note)
		if c.err == "" {
			require.NoError(t, err)
			require.Equal(t, c.note == "", note == "")
		} else {
			require.ErrorContains(t, err, c.err)
			require.Equal(t, "name 456h0m0s or more, or add --short-retention if a second effect does no harm", cli.HintOf(err))
		}
	}
}

// What is older than --retention is forgotten when the consumer starts, and it says so.
func TestForgetting(t *testing.T) {
	t.Parallel()
	e, db := serve(t), recorded(t) // of January; the queue keeps messages for four days
	got := e.consume(t, db, "--retention", "96h")
	require.Equal(t, cli.Harness, got.code, got.err)
	require.Contains(t, got.err, "--retention 4 days is too short")
	require.Contains(t, got.err, "hint: name 120h0m0s or more")

	got = e.consume(t, db, "--retention", "120h", "--until-empty", "3s")
	require.Equal(t, cli.OK, got.code, got.err)
	require.Contains(t, got.err, "consumer: forgot 3 keys and 7 receipts, last delivered more than 5 days ago\n")
	store, err := driver.Read(t.Context(), db)
	require.NoError(t, err)
	counts, err := store.Counts(t.Context())
	require.NoError(t, err)
	require.Equal(t, receipt.Counts{Effects: 2}, counts, "effects are the handler's, and stay")
	require.NoError(t, store.Close())
}

// Whether the group is part of the key is asked of the queue; one that does not tell
// is not guessed at.
func TestKeyGroup(t *testing.T) {
	t.Parallel()
	e := serve(t)
	behind, err := url.Parse(e.url)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		body = bytes.ReplaceAll(body, []byte(`"DeduplicationScope"`), []byte(`"DeduplicationTrope"`)) // of the same length
		r.Body = io.NopCloser(bytes.NewReader(body))
		return err
	}
	silent := httptest.NewServer(proxy)
	t.Cleanup(silent.Close)
	secretive := *e
	secretive.url = silent.URL

	got := secretive.consume(t, database(t))
	require.Equal(t, cli.Harness, got.code, got.err)
	require.Contains(t, got.err, "the queue orders.fifo does not tell its DeduplicationScope")
	require.Contains(t, got.err, "hint: say it with --key-group always or --key-group never")

	for when, effects := range map[string]string{"always": "2 effects", "never": "1 effect "} {
		e.send(t, "g", when+"1", `{"order":"`+when+`"}`)
		e.send(t, "h", when+"2", `{"order":"`+when+`"}`)
		got := secretive.consume(t, database(t), "--key-group", when)
		require.Equal(t, cli.OK, got.code, got.err)
		require.Contains(t, got.err, "2 deliveries · "+effects, when)
	}
}

// What becomes of failures is said at the start (C75).
func TestStartTellsTheRedrivePolicy(t *testing.T) {
	t.Parallel()
	e := serve(t, emulator.Attribute{Name: "MessageRetentionPeriod", Value: "345600"})
	got := e.consume(t, database(t))
	require.Contains(t, got.err, "warning: the queue orders.fifo has no redrive policy")
	require.Contains(t, got.err, "until its retention of 4 days ends")

	got = virtualGraveyard(t).consume(t, database(t), "--backoff-base", "3s", "--backoff-cap", "1m")
	require.Contains(t, got.err, "what fails is tried again after 0 to 3s, growing to 1m0s, and moved to dead.fifo after 1 delivery")
	require.Contains(t, got.err, "warning: with a maxReceiveCount of 1")
}

// Everything of a run, on a PostgreSQL: metrics are served, lines are JSON, and no
// password is told.
func TestConsumeOnPostgres(t *testing.T) {
	t.Parallel()
	e, place := serve(t), pgtest.Start(t)
	e.send(t, "g", "1", `{"account":"a","amount":12.34}`)
	e.send(t, "h", "2", `{"account":"a","amount":12.34}`)
	u, err := url.Parse(place)
	require.NoError(t, err)
	u.User = url.UserPassword(u.User.Username(), "geheim") // which this server does not ask for
	got := e.consume(t, u.String(), "--handler", "ledger", "--log", "json", "--metrics-addr", "127.0.0.1:0", "--concurrency", "1")
	require.Equal(t, cli.OK, got.code, got.err)
	require.NotContains(t, got.err, "geheim")
	require.Contains(t, got.err, "2 deliveries · 1 effect · 0 redelivered · 1 repeated")
	for line := range strings.Lines(got.err) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	require.Contains(t, got.err, `"msg":"metrics at http://127.0.0.1:`)
	require.Contains(t, got.err, `"level":"WARN","msg":"this key was seen before in another message`)
	shown := execute(t.Context(), "receipts", "--db", place)
	require.Equal(t, cli.OK, shown.code, shown.err)
	require.Equal(t, 3, strings.Count(shown.out, "\n"), "a heading and two receipts")
}

func TestSetupErrors(t *testing.T) {
	t.Parallel()
	e := serve(t)
	for args, want := range map[string]string{
		"--visibility 1s":                  "--visibility 1s cannot be used",
		"--visibility 2500ms":              "name whole seconds",
		"--concurrency 0":                  "--concurrency 0 cannot be used",
		"--repeated twice":                 `there is no policy "twice" for --repeated`,
		"--key-group maybe":                `--key-group "maybe" cannot be used`,
		"--log xml":                        `--log "xml" cannot be used`,
		"--short-retention":                "--short-retention says nothing without --retention",
		"--backoff-cap 1s":                 "--backoff-cap 1s cannot be waited for",
		"--handler mail":                   `there is no handler "mail"`,
		"--handler ledger:sideways":        "sideways",
		"--handler print --json":           "--handler print and --json both write to standard output",
		"--key message --exclude /a":       "--key message and --exclude exclude each other",
		"--db mysql://localhost/receipts":  "no database of the sort mysql://",
		"--metrics-addr 256.0.0.1:9":       "listening for metrics on 256.0.0.1:9",
		"--handler ledger --account amnt":  "amnt",
		"--retention 1h --short-retention": "",
	} {
		db := []string{"--db", filepath.Join(t.TempDir(), "receipts.db")}
		if strings.Contains(args, "--db") {
			db = nil
		}
		got := execute(t.Context(), append(append([]string{"--queue", "orders.fifo", "--endpoint", e.url, "--until-empty", "10ms"}, db...), strings.Fields(args)...)...)
		if want == "" {
			require.Equal(t, cli.OK, got.code, "%s: %s", args, got.err)
			continue
		}
		require.Contains(t, []int{cli.Usage, cli.Harness}, got.code, "%s: %s", args, got.err)
		require.Contains(t, got.err, want, args)
		require.Contains(t, got.err, "hint: ", args)
	}
}
