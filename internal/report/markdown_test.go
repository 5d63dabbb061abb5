package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*conformance.Results{"summary.md": foreign(), "summary-pass.md": own(40), "summary-queue.md": given()} {
		var b bytes.Buffer
		require.NoError(t, report.Markdown(&b, r))
		golden(t, name, b.Bytes())
	}
}

// Each row of a table stays one row with its own number of cells, whatever was seen.
func TestMarkdownTablesHold(t *testing.T) {
	t.Parallel()
	var summary, matrix bytes.Buffer
	require.NoError(t, report.Markdown(&summary, foreign()))
	require.NoError(t, report.MatrixMarkdown(&matrix, []*conformance.Results{foreign(), own(30)}))
	for _, document := range []string{summary.String(), matrix.String()} {
		cells, rows := 0, 0
		for line := range strings.SplitSeq(document, "\n") {
			if !strings.HasPrefix(line, "|") {
				cells = 0
				continue
			}
			n := strings.Count(line, "|") - strings.Count(line, `\|`)
			if cells > 0 {
				require.Equal(t, cells, n, line)
				rows++
			}
			cells = n
		}
		require.Greater(t, rows, 20)
		require.NotContains(t, document, "<script", "what an endpoint says stays text")
	}
}

// A summary stays under 100 KB, whatever a run holds: the list of all cases goes first.
func TestMarkdownIsSmall(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 110, 3000} {
		r := foreign()
		long := r.Cases[8]
		long.Seen = strings.Repeat(hostile, 100)
		for i := range n {
			long.ID = fmt.Sprintf("scope/group/long-%d", i)
			r.Cases = append(r.Cases, long)
		}
		var b bytes.Buffer
		require.NoError(t, report.Markdown(&b, r))
		require.Less(t, b.Len(), 100_000)
		require.Contains(t, b.String(), "MUST cases")
	}
}

func TestBadge(t *testing.T) {
	t.Parallel()
	open := foreign()
	open.Cases = open.Cases[7:8]
	open.Stale = nil
	broken := foreign()
	broken.Cases = append(broken.Cases[7:8:8], broken.Cases[12])
	broken.Stale = nil
	stale := own(20)
	stale.Stale = []string{"x is no case"}
	known := own(20)
	known.Cases[0].Known = &conformance.Known{Link: "https://example.org", Note: "n"}
	known.Summary.Known, known.Summary.Pass = 1, known.Summary.Pass-1
	for name, c := range map[string]struct {
		results        *conformance.Results
		message, color string
	}{
		"fail":         {foreign(), "2 fail", "red"},
		"inconclusive": {open, "1 inconclusive", "yellow"},
		"error":        {broken, "1 error", "lightgrey"},
		"stale":        {stale, "known list out of date", "red"},
		"known":        {known, fmt.Sprintf("%d pass, 1 known", known.Summary.Pass), "yellowgreen"},
		"pass":         {own(110), "90 pass", "brightgreen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b, svg bytes.Buffer
			require.NoError(t, report.BadgeJSON(&b, c.results))
			var got map[string]any
			require.NoError(t, json.Unmarshal(b.Bytes(), &got))
			// The schema of shields.io for endpoints.
			require.Equal(t, []any{1.0, "sqs fifo dedup", c.message, c.color}, []any{got["schemaVersion"], got["label"], got["message"], got["color"]})
			require.NoError(t, report.BadgeSVG(&svg, c.results))
			golden(t, "badge-"+name+".svg", svg.Bytes())
			for decoder := xml.NewDecoder(&svg); ; {
				if _, err := decoder.Token(); errors.Is(err, io.EOF) {
					break
				} else {
					require.NoError(t, err)
				}
			}
		})
	}
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	all := []*conformance.Results{own(12), foreign()}
	var text, markdown bytes.Buffer
	require.NoError(t, report.Matrix(&text, all))
	require.NoError(t, report.MatrixMarkdown(&markdown, all))
	golden(t, "matrix.txt", text.Bytes())
	golden(t, "matrix.md", markdown.Bytes())
}

// Rows stand in the catalogue's order, whichever run has which cases of it.
func TestMatrixOrder(t *testing.T) {
	t.Parallel()
	catalogue := []string{"window/a", "window/b", "window/c", "window/d", "scope/a", "scope/b", "content/a", "batch/a", "batch/b"}
	pick := func(ids ...int) *conformance.Results {
		r := &conformance.Results{Target: conformance.Target{Name: "x"}}
		for _, i := range ids {
			r.Cases = append(r.Cases, conformance.Result{ID: catalogue[i], Level: conformance.Must, Verdict: conformance.Pass})
		}
		return r
	}
	for name, all := range map[string][]*conformance.Results{
		"all and some":     {pick(0, 1, 2, 3, 4, 5, 6, 7, 8), pick(1, 4)},
		"some and all":     {pick(1, 4, 8), pick(0, 1, 2, 3, 4, 5, 6, 7, 8)},
		"halves":           {pick(0, 2, 4, 7), pick(0, 1, 2, 3, 4, 5, 7, 8), pick(4, 6, 7)},
		"an area between":  {pick(0, 1, 2, 3, 7, 8), pick(3, 4, 5, 6, 7)},
		"an area in front": {pick(4, 5, 6, 7, 8), pick(0, 1, 2, 3, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			require.NoError(t, report.Matrix(&b, all))
			var got []string
			for line := range strings.Lines(b.String()) {
				if id, _, _ := strings.Cut(line, " "); id != "case" {
					got = append(got, id)
				}
			}
			require.Equal(t, catalogue, got)
		})
	}
}

// A repeated command survives any shell.
func TestRepeatIsQuoted(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, report.Text(&b, warned(), report.Style{}))
	require.Contains(t, b.String(), `again: fifoproof verify --target 'http://localhost:9324/a b'\''c' --strict --case scope/group/interleaved`+"\n")
}
