package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/producer"
)

// anyText has everything that JSON escapes.
var anyText = rapid.StringOfN(rapid.RuneFrom([]rune{'a', '"', '\\', '/', '{', '}', '[', ']', ',', ':', '<', '&', '\n', 0, 'é', '\u2028', '😀'}), 0, 12, -1)

func anyTime(t *rapid.T) time.Time {
	return time.Unix(rapid.Int64Range(1, 9e9).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
}

// TestScanIsTheProducersReader holds the quick way to the definition of the format:
// what the producer's own type writes is read the same by both, and the quick way
// needs no help with it.
func TestScanIsTheProducersReader(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := producer.Entry{
			Version: 1, Run: "5f0c9a3e", Queue: anyText.Draw(t, "queue"), Source: anyText.Draw(t, "source"), Line: 1, Copy: 1,
			Group: anyText.Draw(t, "group"), ID: "i" + anyText.Draw(t, "id"), BodyDigest: anyText.Draw(t, "digest"),
			MessageID: anyText.Draw(t, "message"), SequenceNumber: anyText.Draw(t, "sequence"),
			Outcome: rapid.SampledFrom([]producer.Outcome{producer.Accepted, producer.Duplicate, producer.Failed, producer.Unknown, producer.Unsent}).Draw(t, "outcome"),
			Reason:  anyText.Draw(t, "reason"), Original: anyText.Draw(t, "original"), Warning: anyText.Draw(t, "warning"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "attempts") {
			a := producer.EntryAttempt{StartNS: 12, Start: anyTime(t), Error: anyText.Draw(t, "error")}
			if rapid.Bool().Draw(t, "answered") {
				end := anyTime(t)
				a.End, a.EndNS = &end, new(int64(-7))
			}
			e.Attempts = append(e.Attempts, a)
		}
		if e.Attempts == nil {
			e.Attempts = []producer.EntryAttempt{}
		}
		line, err := json.Marshal(e)
		require.NoError(t, err)
		var quick, slow entry
		require.True(t, quick.scan(line), "%s", line)
		slow.from(e)
		require.Equal(t, texts(slow), texts(quick), "%s", line)
		require.Equal(t, [3]int64{slow.start, slow.end, int64(slow.outcome)}, [3]int64{quick.start, quick.end, int64(quick.outcome)}, "%s", line)
	})
}

func texts(e entry) []string {
	var out []string
	for _, text := range [][]byte{e.run, e.queue, e.group, e.id, e.digest, e.message, e.sequence} {
		out = append(out, string(text))
	}
	return out
}

// TestScanKnowsEveryField fails where the format of the send log gets a field that
// the quick way does not know: every line would then take the slow one.
func TestScanKnowsEveryField(t *testing.T) {
	t.Parallel()
	line := map[string]any{}
	for field := range reflect.TypeFor[producer.Entry]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch field.Type.Kind() {
		case reflect.Int:
			line[name] = 1
		case reflect.String:
			line[name] = "accepted"
		default:
			attempt := map[string]any{}
			for inner := range field.Type.Elem().Fields() {
				name, _, _ := strings.Cut(inner.Tag.Get("json"), ",")
				attempt[name] = "2026-03-02T09:00:00Z"
			}
			line[name] = []any{attempt}
		}
	}
	text, err := json.Marshal(line)
	require.NoError(t, err)
	require.True(t, new(entry).scan(text), "%s", text)
}

func TestEntryErrors(t *testing.T) {
	t.Parallel()
	const good = `{"v":1,"run":"r","queue":"q","source":"s","line":1,"copy":1,"group":"g","id":"i","body_digest":"d","attempts":[],"message_id":"m","sequence_number":"1","outcome":"accepted"}`
	var e entry
	require.True(t, e.scan([]byte(good)))
	for _, tt := range []struct{ name, from, to, err string }{
		{"cut off", good[50:], "", "no send log entry"},
		{"not JSON", `"run":"r"`, `"run":r`, "no send log entry"},
		{"two values", `"accepted"}`, `"accepted"}{}`, "no send log entry"},
		{"another version", `"v":1`, `"v":2`, "version 2 of the send log"},
		{"no id", `"id":"i"`, `"id":""`, "without run, id or line"},
		{"unknown outcome", `accepted`, `eaten`, "unknown outcome"},
		{"a number for a text", `"id":"i"`, `"id":7`, "another JSON value"},
	} {
		line := strings.Replace(good, tt.from, tt.to, 1)
		require.NotEqual(t, good, line)
		require.ErrorContains(t, e.parse([]byte(line)), tt.err, tt.name)
	}
	// White space, other orders and unknown fields are no errors.
	for _, line := range []string{
		strings.ReplaceAll(good, ",", " , "), strings.Replace(good, `"v":1`, `"new":{"a":[1,{"b":null}]},"v":1`, 1),
		strings.Replace(good, `"run":"r"`, `"run":"\u0072"`, 1),
	} {
		e = entry{}
		require.NoError(t, e.parse([]byte(line)), line)
		require.Equal(t, "r", string(e.run))
	}
}

// TestReceiptsAreTheConsumers reads what the consumer's golden file holds.
func TestReceiptsAreTheConsumers(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../cmd/consumer/testdata/receipts.jsonl")
	require.NoError(t, err)
	var kindsSeen []receiptKind
	for line := range strings.Lines(string(file)) {
		var quick delivered
		require.True(t, quick.scan([]byte(line)), line)
		var slow receiptLine
		require.NoError(t, json.Unmarshal([]byte(line), &slow))
		var want delivered
		want.from(slow.receipt())
		require.Equal(t, want.receipt(), quick.receipt(), line)
		kindsSeen = append(kindsSeen, quick.kind)
	}
	require.Equal(t, []receiptKind{fresh, redelivered, repeated, rejected, failedAttempt, pending, fresh}, kindsSeen)
}

// TestScanIsTheSlowWay reads every field that a receipt can have by both ways.
func TestScanIsTheSlowWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := map[string]any{
			"receipt": rapid.Int64Range(1, 1e15).Draw(t, "receipt"), "kind": rapid.SampledFrom([]string{"fresh", "redelivered", "repeated", "rejected", "failed", "pending"}).Draw(t, "kind"),
			"queue": "q" + anyText.Draw(t, "queue"), "receive_count": rapid.IntRange(0, 9).Draw(t, "count"),
			"sent_at": anyTime(t), "received_at": anyTime(t),
			"attempt": map[string]any{"number": 2, "worker": anyText.Draw(t, "worker"), "started": anyTime(t), "ended": nil},
			"first":   map[string]any{"message_id": anyText.Draw(t, "first"), "received_at": anyTime(t)},
		}
		for _, name := range []string{"message_id", "redriven_id", "group", "dedup_id", "sequence_number", "body_digest", "consumer", "fingerprint", "reason"} {
			line[name] = anyText.Draw(t, name)
		}
		key := map[string]any{}
		for _, name := range []string{"rule", "consumer", "space", "group", "value", "message"} {
			key[name] = anyText.Draw(t, "key."+name)
		}
		line["key"] = key
		text, err := json.Marshal(line)
		require.NoError(t, err)
		var quick, slow delivered
		require.True(t, quick.scan(text), "%s", text)
		var parsed receiptLine
		require.NoError(t, json.Unmarshal(text, &parsed))
		slow.from(parsed.receipt())
		require.Equal(t, slow.receipt(), quick.receipt(), "%s", text)
	})
}

func TestHorizonLine(t *testing.T) {
	t.Parallel()
	var d delivered
	require.NoError(t, d.parse([]byte(`{"horizon":"2026-01-31T12:00:00+01:00"}`)))
	require.Equal(t, time.Date(2026, time.January, 31, 11, 0, 0, 0, time.UTC), fromNano(d.horizon))
	require.NoError(t, d.parse([]byte(`{"receipt":1,"kind":"fresh","queue":"q","message_id":"m","received_at":"2026-01-31T12:00:00Z"}`)))
	require.Zero(t, d.horizon)
	for _, line := range []string{`{"horizon":""}`, `{"horizon":null}`, `{"horizon":7}`, `{"horizon":"0001-01-01T00:00:00Z"}`, `{}`} {
		require.Error(t, d.parse([]byte(line)), line)
	}
}

func TestReceiptErrors(t *testing.T) {
	t.Parallel()
	const good = `{"receipt":1,"kind":"fresh","queue":"q","message_id":"m","received_at":"2026-01-31T12:00:00+01:00"}`
	var d delivered
	require.NoError(t, d.parse([]byte(good)))
	require.Equal(t, time.Date(2026, time.January, 31, 11, 0, 0, 0, time.UTC), fromNano(d.received))
	for _, tt := range []struct{ from, to, err string }{
		{good[20:], "", "no receipt in JSON"},
		{"fresh", "stale", "unknown kind of receipt"},
		{`"queue":"q",`, "", "without queue or received_at"},
		{"2026-01-31", "2026-02-31", "another JSON value than a receipt"},
	} {
		require.ErrorContains(t, d.parse([]byte(strings.Replace(good, tt.from, tt.to, 1))), tt.err)
	}
}

// TestParseTime holds the quick way to package time, on every day of four centuries
// and on all sorts of fractions.
func TestParseTime(t *testing.T) {
	t.Parallel()
	for day := time.Date(1970, time.January, 2, 3, 4, 5, 600, time.UTC); day.Year() < 2262; day = day.Add(24*time.Hour + 7*time.Microsecond) {
		if got, ok := parseTime(day.AppendFormat(nil, time.RFC3339Nano)); !ok || got != day.UnixNano() {
			t.Fatalf("%v is read as %d, %t", day, got, ok)
		}
	}
	for _, text := range []string{"", "2026", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00.Z", "1600-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z"} {
		_, ok := parseTime([]byte(text))
		require.False(t, ok, text)
	}
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text      string
		high, low uint64
		ok        bool
	}{
		{"0", 0, 0, true},
		{"00000000000000000000000000000000000000000000000007", 0, 7, true},
		{"18446744073709551616", 1, 0, true},                                    // 2^64
		{"340282366920938463463374607431768211455", 1<<64 - 1, 1<<64 - 1, true}, // 2^128 - 1
		{"340282366920938463463374607431768211456", 0, 0, false},
		{"3402823669209384634633746074317682114550", 0, 0, false},
		{"", 0, 0, false},
		{"-1", 0, 0, false},
		{"1e3", 0, 0, false},
	} {
		n, ok := parseNumber([]byte(tt.text))
		require.Equal(t, tt.ok, ok, tt.text)
		if ok {
			require.Equal(t, number{tt.high, tt.low}, n, tt.text)
		}
	}
}

// FuzzEntry: whatever a line is, the quick way accepts nothing that the producer's
// reader refuses.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"v":1,"run":"r","line":1,"id":"i\u0041","attempts":[{"start":"2026-03-02T09:00:00Z","end":null}],"outcome":"accepted"}`))
	f.Add([]byte(`{"v":1,"run":"r","line":1,"id":"i","attempts":[{}],"outcome":"unsent","reason":"\\"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var quick entry
		if !quick.scan(line) {
			return
		}
		found := false
		_, err := producer.ReadLog(bytes.NewReader(line), func(producer.Entry) error { found = true; return nil })
		if bytes.ContainsAny(line, "\n") || len(line) >= longestLine {
			return // the audit gives it no such lines
		}
		require.NoError(t, err)
		require.True(t, found)
	})
}
