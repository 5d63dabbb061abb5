package timeline

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/receipt"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	golden(t, "timeline.html", draw(t, day(), 0))
}

func TestPageSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	p := newPage(day(), 0)
	require.Equal(t, "5 messages in 3 groups, 10 deliveries: 1 without an effect", p.Sentence)
	require.Equal(t, []fact{
		{"queue", "orders.fifo"},
		{"from", "2026-03-02 09:00:00.000 UTC"},
		{"until", "2026-03-02 09:00:50.020 UTC, 50 s later"},
		{"workers", "host-1/7, host-2/9"},
	}, p.Facts)
	require.Empty(t, p.Left)
	require.Equal(t, []undone{{
		Receipt: 10, Message: "0f53f1c2-6666", Group: "customer-19", Kind: receipt.Pending, Attempts: 2, Received: "2026-03-02 09:00:50.000",
		Why: "a redriven copy of message 0e53f1c2-5555",
	}}, p.Undone, "a copy is told with what it is a copy of")
	counts := map[receipt.Kind]string{}
	for _, k := range p.Kinds {
		counts[k.Kind] = k.Count
		require.NotEmpty(t, k.Meaning, k.Kind)
	}
	require.Equal(t, map[receipt.Kind]string{"fresh": "3", "redelivered": "1", "repeated": "1", "rejected": "1", "failed": "2", "pending": "2"}, counts)
	require.Equal(t, "There are no receipts", newPage(nil, 0).Sentence)
	require.Equal(t, "2 messages in 1 group, 2 deliveries: all done", newPage(many(2, 2), 0).Sentence)
}

// One row per message, its deliveries as marks and its attempts as bars, where they
// belong by time.
func TestRows(t *testing.T) {
	t.Parallel()
	p := newPage(day(), 0).Panels[0]
	require.Len(t, p.Rows, 5)
	require.Equal(t, []string{"group customer-17", "group customer-18", "group customer-19"}, []string{p.Heads[0].Text, p.Heads[1].Text, p.Heads[2].Text})
	const whole = 50020.0 // milliseconds that the panel lasts
	at := func(ms float64) float64 { return ms / whole * 100 }

	failing := p.Rows[1]
	require.Len(t, failing.Marks, 3)
	require.Len(t, failing.Bars, 3)
	require.Equal(t, receipt.Failed, failing.Bars[1].Kind)
	require.InDelta(t, at(5010), float64(failing.Bars[1].X), 1e-9)
	require.InDelta(t, at(790), float64(failing.Bars[1].Width), 1e-9)
	require.Equal(t, "attempt 2 by host-1/7 from 2026-03-02 09:00:05.010, took 790 ms: the bank answered 503", failing.Bars[1].Tip)
	require.InDelta(t, at(33000), float64(failing.Marks[2].X), 1e-9)
	require.Equal(t, "failed: delivery 2 of message 0b53f1c2-2222, received 2026-03-02 09:00:05.000, 250 ms after it was sent: the bank answered 503", failing.Marks[1].Tip)

	// The worker died: what is known of the end is that the next attempt began.
	died := p.Rows[2].Bars[0]
	require.True(t, died.Open)
	require.InDelta(t, at(30020-30), float64(died.Width), 1e-9)
	require.Contains(t, died.Tip, "no end on record")

	// The copy stands in the row of its first message, and is at work until the edge.
	copied := p.Rows[4]
	require.Len(t, copied.Marks, 2)
	require.True(t, copied.Bars[1].Open)
	require.InDelta(t, 100, float64(copied.Bars[1].X), 1e-9)

	require.Equal(t, "10 deliveries, 3 fresh, 1 redelivered, 1 repeated, 1 rejected, 2 failed, 2 pending; each is in the table below", p.Desc)
	require.Len(t, p.Table, 10)
	require.Equal(t, line{
		ID: 4, Group: "customer-17", Message: "0b53f1c2-2222", Received: "2026-03-02 09:00:05.000", Nth: 2, Count: 2, Kind: receipt.Failed,
		Attempt: 2, Worker: "host-1/7", Started: "2026-03-02 09:00:05.010", Ended: "2026-03-02 09:00:05.800", Took: "790 ms", Why: "the bank answered 503",
	}, p.Table[3])
	require.Equal(t, "the effect was that of message 0c53f1c2-3333, received 2026-03-02 09:00:30.010", p.Table[7].Why)
}

// A group stays together where it fits, and every message is drawn once.
func TestPanels(t *testing.T) {
	t.Parallel()
	rows := func(n, perGroup int) (list []int) {
		seen := 0
		for _, p := range newPage(many(n, perGroup), 0).Panels {
			list = append(list, len(p.Rows))
			seen += len(p.Table)
		}
		require.Equal(t, n, seen)
		return list
	}
	require.Equal(t, []int{40, 40, 5}, rows(85, 1))
	require.Equal(t, []int{30, 30, 15}, rows(75, 15), "three groups of 15 are more than a panel")
	require.Equal(t, []int{40, 40, 20}, rows(100, 100), "a group that fits none is cut")
	p := newPage(many(100, 100), 0)
	require.Equal(t, "group g0", p.Panels[0].Heads[0].Text)
	require.Equal(t, "group g0, continued", p.Panels[2].Heads[0].Text)
}

func TestQueuesAreNamedWhereThereAreTwo(t *testing.T) {
	t.Parallel()
	receipts := many(2, 1)
	receipts[1].Queue, receipts[1].Group = "invoices.fifo", ""
	p := newPage(receipts, 0)
	require.Equal(t, "orders.fifo · group g0", p.Panels[0].Heads[0].Text)
	require.Equal(t, "invoices.fifo · without a group", p.Panels[0].Heads[1].Text)
	require.Equal(t, fact{"queue", "invoices.fifo, orders.fifo"}, p.Facts[0])
}

func TestPageSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Only the newest 3 messages are shown: 1,234 older receipts on record are left out. "+
		"Select some, for instance with --group or --since, to see others.", newPage(many(3, 1), 1234).Left)
	require.Equal(t, "Only the newest message is shown: 1 older receipt on record is left out. "+
		"Select some, for instance with --group or --since, to see others.", newPage(many(1, 1), 1).Left)
}

// The page may use its own style sheet and nothing else, not even of its own.
func TestPageAsksForNothing(t *testing.T) {
	t.Parallel()
	content := draw(t, day(), 0)
	sheet := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(content)
	require.Len(t, sheet, 2)
	sum := sha256.Sum256([]byte(sheet[1]))
	require.Contains(t, content, `content="default-src &#39;none&#39;; style-src &#39;sha256-`+strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;"))
	for _, text := range []string{"<script", "http://", "https://", "style=", "@import", "url(", "src=", "onload"} {
		lacks(t, content, text)
	}
}

// lacks looks for a text in a page without printing the page.
func lacks(t *testing.T, content, text string) {
	t.Helper()
	if strings.Contains(content, text) {
		t.Errorf("the page has %q", text)
	}
}

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)></style><svg/onload=alert(1)>{{.}}` + "\x00\x1b[31m\u202e'`&amp;"

// Groups, ids and reasons come from whoever may send: they stay text.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	receipts := day()
	for i := range receipts {
		r := &receipts[i]
		r.Queue, r.MessageID, r.OriginID, r.Group, r.Reason = hostile, hostile+fmt.Sprint(i), hostile, hostile+fmt.Sprint(i), hostile
		r.Attempt.Worker, r.First.MessageID, r.Kind = hostile, hostile, receipt.Kind(hostile)
	}
	content := draw(t, receipts, 1)
	for _, text := range []string{"<script", "<img", "<svg/", "\x00", "\x1b"} {
		lacks(t, content, text)
	}
	require.Equal(t, 1, strings.Count(content, "</style>"))
	wellFormed(t, content)
}

// wellFormed proves, by a reader of XML, that each element ends and each attribute is
// quoted, whatever the texts are; and that an id names one thing.
func wellFormed(t require.TestingT, content string) {
	decoder := xml.NewDecoder(strings.NewReader(content))
	seen := map[string]bool{}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if element, is := token.(xml.StartElement); is {
			for _, a := range element.Attr {
				require.False(t, a.Name.Local == "id" && seen[a.Value], "two things have the id %q", a.Value)
				seen[a.Value] = a.Name.Local == "id" || seen[a.Value]
				require.False(t, strings.HasPrefix(a.Name.Local, "on"), a.Name.Local)
			}
		}
	}
}

// Whatever is on record, there is a page of it, and every delivery is on it once.
func TestAnyReceipts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "b", hostile, "\xff", "￿"}))
		instant := rapid.Custom(func(t *rapid.T) time.Time {
			if rapid.IntRange(0, 3).Draw(t, "zero") == 0 {
				return time.Time{}
			}
			return start.Add(time.Duration(rapid.OneOf(rapid.Int64Range(0, int64(time.Minute)), rapid.Int64()).Draw(t, "at")))
		})
		var receipts []receipt.Receipt
		for i := range rapid.IntRange(0, 60).Draw(t, "n") {
			receipts = append(receipts, receipt.Receipt{
				ID: int64(i + 1), Kind: rapid.SampledFrom(receipt.Kinds()).Draw(t, "kind"), Reason: text.Draw(t, "reason"),
				Delivery: receipt.Delivery{
					Queue: text.Draw(t, "queue"), MessageID: text.Draw(t, "message"), OriginID: text.Draw(t, "origin"), Group: text.Draw(t, "group"),
					SentAt: instant.Draw(t, "sent"), ReceivedAt: instant.Draw(t, "received"), ReceiveCount: rapid.IntRange(0, 4).Draw(t, "count"),
				},
				First:   receipt.Origin{MessageID: text.Draw(t, "first"), ReceivedAt: instant.Draw(t, "first at")},
				Attempt: receipt.Attempt{Number: rapid.IntRange(0, 3).Draw(t, "attempt"), Worker: text.Draw(t, "worker"), Started: instant.Draw(t, "from"), Ended: instant.Draw(t, "to")},
			})
		}
		p := newPage(receipts, 0)
		var drawn []int64
		for _, panel := range p.Panels {
			for _, l := range panel.Table {
				drawn = append(drawn, l.ID)
			}
			for _, r := range panel.Rows {
				for _, b := range r.Bars {
					require.True(t, b.X >= 0 && b.Width > 0 && b.X+b.Width <= 100.2, "%v", b)
				}
				for _, m := range r.Marks {
					require.True(t, m.X >= 0 && m.X <= 100, "%v", m)
				}
			}
			require.LessOrEqual(t, len(panel.Ticks), 7)
		}
		slices.Sort(drawn)
		require.Len(t, slices.Compact(drawn), len(receipts))
		var b strings.Builder
		require.NoError(t, HTML(&b, receipts, 0))
		wellFormed(t, b.String())
	})
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for length, want := range map[time.Duration]string{
		time.Millisecond:        "0 s, 200 µs, 400 µs, 600 µs, 800 µs, 1 ms",
		180 * time.Millisecond:  "0 s, 50 ms, 100 ms, 150 ms",
		50 * time.Second:        "0 s, 10 s, 20 s, 30 s, 40 s, 50 s",
		5 * time.Minute:         "0 s, 1 min, 2 min, 3 min, 4 min, 5 min",
		7*time.Minute + 1:       "0 s, 2 min, 4 min, 6 min",
		26 * time.Hour:          "0 s, 6 h, 12 h, 18 h, 1 d",
		100 * 24 * time.Hour:    "0 s, 32 d, 64 d, 96 d",
		90 * time.Minute:        "0 s, 30 min, 1 h, 1 h 30 min",
		1500 * time.Millisecond: "0 s, 500 ms, 1 s, 1.5 s",
	} {
		s := scale{start, start.Add(length)}
		var labels []string
		for _, tick := range s.ticks() {
			labels = append(labels, tick.Label)
		}
		require.Equal(t, want, strings.Join(labels, ", "), length)
	}
}
