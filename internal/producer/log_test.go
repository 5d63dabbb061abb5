package producer

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/contenthash"
)

func openLog(t *testing.T, path string) *Log {
	t.Helper()
	log, err := OpenLog(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	return log
}

func entries(t *testing.T, path string) []Entry {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	var out []Entry
	notes, err := ReadLog(file, func(e Entry) error { out = append(out, e); return nil })
	require.NoError(t, err)
	require.Empty(t, notes)
	return out
}

func TestLogKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sends.jsonl")
	b := newBench(t, func(c *Config) { c.Log = openLog(t, path) }, lost, fails("InvalidParameterValue", true, 1))
	_, err := b.send(t.Context(), `{"n":"<&>"}`, `{"n":2}`, `{`)
	require.NoError(t, err)
	got := entries(t, path)
	require.Len(t, got, 2, "a line that was never sent is no send")
	first, second := got[0], got[1]
	ms := func(n int64) *int64 { n *= 1e6; return &n }
	at := start.Add(time.Millisecond + 50*time.Millisecond)
	end := at.Add(time.Millisecond)
	require.Equal(t, Entry{
		Version: 1, Run: "run1", Queue: testQueue, Source: "test.ndjson", Line: 1, Copy: 1, Group: "default",
		ID: b.records[0].ID, BodyDigest: b.records[0].BodyDigest,
		Attempts: []EntryAttempt{
			{Start: start, Error: "read tcp 127.0.0.1:9324: connection reset by peer"},
			{StartNS: 51e6, EndNS: ms(52), Start: at, End: &end},
		},
		MessageID: messageID(1), SequenceNumber: "00000000000000000001", Outcome: Accepted,
	}, first)
	// The lost call carried line 2 out and its retry was refused: nobody may say "failed".
	require.Equal(t, 2, second.Line)
	require.Equal(t, Unknown, second.Outcome)

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "<&>", "bodies stay out of the log")
	require.Contains(t, string(raw), `"end_ns":null,"start":"2026-03-02T09:00:00Z","end":null`)
	require.Contains(t, string(raw), `"start":"2026-03-02T09:00:00.051Z"`)
}

func TestLogMakesLaterRunsSeeDuplicates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sends.jsonl")
	b := newBench(t, func(c *Config) { c.Log = openLog(t, path) })
	_, err := b.send(t.Context(), `{"n":1}`)
	require.NoError(t, err)

	later := newBench(t, func(c *Config) { c.Log = openLog(t, path) })
	later.queue.first = b.queue.first // the same queue
	later.newRun = func() string { return "later" }
	sum, err := later.send(t.Context(), `{"n":1.0}`)
	require.NoError(t, err)
	require.Equal(t, []string{"1 duplicate of line 1 of test.ndjson in an earlier run (run1)"}, outcomes(later.records))
	require.Equal(t, 1, sum.Duplicate)

	blind := newBench(t, nil)
	blind.queue.first = b.queue.first
	_, err = blind.send(t.Context(), `{"n":1}`)
	require.NoError(t, err)
	require.Equal(t, []string{"1 accepted"}, outcomes(blind.records), "without the log nobody can know")

	got := entries(t, path)
	require.Len(t, got, 2)
	require.Equal(t, "line 1 of test.ndjson in an earlier run (run1)", got[1].Original)
}

func TestLogWarnsOfLossAcrossRuns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sends.jsonl")
	only, err := contenthash.New(contenthash.Options{Exclude: []string{"/g"}})
	require.NoError(t, err)
	grouped := func(c *Config) { c.Log, c.Hash, c.GroupPointer = openLog(t, path), only, "/g" }
	_, err = newBench(t, grouped).send(t.Context(), `{"v":1,"g":"a"}`)
	require.NoError(t, err)

	later := newBench(t, grouped)
	later.newRun = func() string { return "later" }
	_, err = later.send(t.Context(), `{"v":1,"g":"b"}`)
	require.NoError(t, err)
	require.Contains(t, later.records[0].Warning, `likely loss: line 1 has the id of line 1 of test.ndjson in an earlier run (run1), but the group "b" and not "a"`)

	elsewhere := newBench(t, func(c *Config) { grouped(c); c.Queue = strings.Replace(testQueue, "orders", "others", 1) })
	_, err = elsewhere.send(t.Context(), `{"v":1,"g":"c"}`)
	require.NoError(t, err)
	require.Empty(t, elsewhere.records[0].Warning, "ids are never shared between queues")
}

const whole = `{"v":1,"run":"r1","queue":"q","source":"s","line":1,"copy":1,"group":"g","id":"abc","body_digest":"d","attempts":[],"message_id":"m","sequence_number":"1","outcome":"accepted"}`

func other(run string) string { return strings.Replace(whole, `"run":"r1"`, `"run":"`+run+`"`, 1) }

func TestReadLogTellsCutFromCorrupt(t *testing.T) {
	t.Parallel()
	const cut = `{"v":1,"run":"r1","que`
	const note = "line 2 was cut off, probably when its run was killed: that send is not known"
	for _, c := range []struct {
		name    string
		lines   []string // joined by line feeds
		entries int
		notes   []string
		err     string
	}{
		{"empty", []string{""}, 0, nil, ""},
		{"whole", []string{whole, whole, ""}, 2, nil, ""},
		{"only the line feed is missing", []string{whole, whole}, 2, nil, ""},
		{"cut at the end", []string{whole, cut}, 1, []string{note}, ""},
		{"cut at the end, ended since", []string{whole, cut, ""}, 1, []string{note}, ""},
		{"cut, then another run", []string{whole, cut, other("r2"), other("r2"), ""}, 3, []string{note}, ""},
		{"corrupt inside a run", []string{whole, cut, whole, ""}, 1, nil, "line 2: no send log entry"},
		{"two bad lines", []string{whole, cut, cut, other("r2"), ""}, 1, nil, "line 2: no send log entry"},
		{"another version", []string{strings.Replace(whole, `"v":1`, `"v":2`, 1), other("r2"), ""}, 0, nil, "line 1: version 2 of the send log, and this program reads version 1"},
		{"another version at the end", []string{whole, strings.Replace(whole, `"v":1`, `"v":2`, 1)}, 1, nil, "line 2: version 2"},
		{"two cut lines at the end", []string{whole, cut, cut}, 1, nil, "line 2: no send log entry"},
		{"another type", []string{`[1]`, ""}, 0, nil, "line 1: another JSON value than a send log entry"},
		{"some other file", []string{`{"order":1}`, `{"order":2}`, ""}, 0, nil, "line 1: version 0"},
		{"unknown outcome", []string{strings.Replace(whole, "accepted", "lost", 1), "", ""}, 0, nil, `line 1: unknown outcome "lost"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := 0
			notes, err := ReadLog(strings.NewReader(strings.Join(c.lines, "\n")), func(Entry) error { n++; return nil })
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.notes, notes)
			require.Equal(t, c.entries, n)
		})
	}
	stop := errors.New("enough")
	_, err := ReadLog(strings.NewReader(whole+"\n"+whole), func(Entry) error { return stop })
	require.ErrorIs(t, err, stop)
	_, err = ReadLog(strings.NewReader(strings.Repeat("x", longestEntry+1)), nil)
	require.EqualError(t, err, "line 1 is longer than any entry")
}

// A run that goes on after a killed one leaves a log that the next can read.
func TestLogGoesOnAfterCutLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sends.jsonl")
	const cut = whole + "\n" + `{"v":1,"run":"r1"`
	require.NoError(t, os.WriteFile(path, []byte(cut), 0o600))
	log := openLog(t, path)
	require.Len(t, log.Notes(), 1)
	b := newBench(t, func(c *Config) { c.Log = log })
	_, err := b.send(t.Context(), numbered(2)...)
	require.NoError(t, err)

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(raw), cut+"\n"), "nothing is rewritten")
	n := 0
	notes, err := ReadLog(strings.NewReader(string(raw)), func(Entry) error { n++; return nil })
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, log.Notes(), notes)
}

func TestLogCorruptIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sends.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(whole+"\nnonsense\n"+whole+"\n"), 0o600))
	_, err := OpenLog(path)
	require.ErrorContains(t, err, "reading the send log "+path+": line 2: no send log entry")
	_, err = OpenLog(t.TempDir())
	require.ErrorContains(t, err, "opening the send log")
}

// A log is evidence: a run that cannot write it must not go on.
func TestLogThatCannotBeWrittenStopsTheRun(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	file, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	log := &Log{path: "sends.jsonl", file: file, known: newKnown()}
	defer log.Close()
	b := newBench(t, func(c *Config) { c.Log = log })
	sum, err := b.send(t.Context(), numbered(30)...)
	require.ErrorContains(t, err, "writing the send log sends.jsonl")
	require.Len(t, b.queue.calls, 1)
	require.Equal(t, 10, sum.Accepted)
}

// Every line of the log is there before the next batch is sent.
func TestLogIsWrittenPerBatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sends.jsonl")
	written := -1
	b := newBench(t, func(c *Config) { c.Log = openLog(t, path) }, nil, func(q *queue, in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
		written = len(entries(t, path))
		return nil, io.EOF
	})
	// The first record is told: a process that ends here has nothing left to write.
	told := -1
	_, err := b.Run(t.Context(), []Input{text("x", numbered(20)...)}, func(r Record) {
		if r.Line == 1 {
			told = len(entries(t, path))
		}
	})
	require.NoError(t, err)
	require.Equal(t, 10, told)
	require.Equal(t, 10, written)
}

func TestEntryIsStable(t *testing.T) {
	t.Parallel()
	e, err := parseEntry([]byte(whole))
	require.NoError(t, err)
	again, err := e.marshal()
	require.NoError(t, err)
	require.True(t, bytes.Equal([]byte(whole+"\n"), again), "the order of fields is part of what people grep: %s", again)
}
