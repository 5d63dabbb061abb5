package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

// anything draws results as no run would write them: 'report' reads them from a file.
func anything(t *rapid.T) *conformance.Results {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "window/a/b", hostile, "]]>", "\x1b[31m", "\xff"}))
	when := rapid.OneOf(rapid.Float64Range(-1, 400), rapid.Float64Range(299.9999, 300.0001), rapid.SampledFrom([]float64{0, 300, 1e-9, 1e9, 1e18, -1e18}))
	pair := func() [2]float64 { return [2]float64{when.Draw(t, "from"), when.Draw(t, "to")} }
	maybe := func() *float64 {
		if rapid.Bool().Draw(t, "has") {
			return new(when.Draw(t, "at"))
		}
		return nil
	}
	some := func(add func()) {
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			add()
		}
	}
	r := &conformance.Results{
		Target:  conformance.Target{Name: text.Draw(t, "name"), Product: text.Draw(t, "product"), Version: text.Draw(t, "version"), Clock: rapid.SampledFrom([]string{"real", "virtual"}).Draw(t, "clock")},
		Run:     text.Draw(t, "run"),
		Profile: conformance.Profile(text.Draw(t, "profile")),
		Policy:  conformance.Policy{Strict: rapid.Bool().Draw(t, "strict"), Inconclusive: rapid.SampledFrom([]string{"", "warn"}).Draw(t, "policy")},
	}
	some(func() { r.NotRun = append(r.NotRun, text.Draw(t, "not run")) })
	for _, id := range r.NotRun {
		if rapid.Bool().Draw(t, "has a reason") {
			if r.NotRunWhy == nil {
				r.NotRunWhy = map[string]string{}
			}
			r.NotRunWhy[id] = text.Draw(t, "why not")
		}
	}
	some(func() { r.Stale = append(r.Stale, text.Draw(t, "stale")) })
	some(func() {
		c := conformance.Result{
			ID: text.Draw(t, "id"), Level: conformance.Level(rapid.SampledFrom([]string{"MUST", "SHOULD", "INFO"}).Draw(t, "level")),
			Verdict:  conformance.Verdict(rapid.SampledFrom([]string{"pass", "info", "non-strict", "fail", "inconclusive", "skipped", "error", "other"}).Draw(t, "verdict")),
			Expected: text.Draw(t, "expected"), Seen: text.Draw(t, "seen"), Reason: text.Draw(t, "reason"), Source: text.Draw(t, "source"), QueueTime: when.Draw(t, "queue time"),
		}
		if rapid.Bool().Draw(t, "known") {
			c.Known = &conformance.Known{Link: text.Draw(t, "link"), Note: text.Draw(t, "note")}
		}
		some(func() {
			c.Sends = append(c.Sends, conformance.Sent{Queue: rapid.IntRange(0, 2).Draw(t, "queue"), Group: text.Draw(t, "group"), ID: text.Draw(t, "dedup id"), Start: when.Draw(t, "start"), End: maybe(), Refused: text.Draw(t, "refused")})
		})
		some(func() {
			c.Deliveries = append(c.Deliveries, conformance.Received{Group: text.Draw(t, "group"), Start: when.Draw(t, "start"), End: when.Draw(t, "end"), Copy: rapid.Bool().Draw(t, "copy")})
		})
		some(func() {
			c.Windows = append(c.Windows, conformance.Window{Group: text.Draw(t, "group"), ID: text.Draw(t, "dedup id"), Opened: pair(), Ends: pair()})
		})
		if rapid.Bool().Draw(t, "edge") {
			c.Edge = &conformance.Edge{SuppressedUpTo: maybe(), DeliveredFrom: maybe(), RoundTrip: when.Draw(t, "round trip")}
			some(func() {
				p := pair()
				c.Edge.Probes = append(c.Edge.Probes, conformance.Probe{Min: p[0], Max: p[1], Delivered: rapid.Bool().Draw(t, "delivered")})
			})
		}
		r.Cases = append(r.Cases, c)
	})
	return r
}

// Whatever a file of results holds, each format keeps its own form.
func TestAnyResultsKeepTheForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := anything(t)
		var text, markdown, junit, svg, badge, html bytes.Buffer
		require.NoError(t, report.Text(&text, r, report.Style{All: rapid.Bool().Draw(t, "all")}))
		require.False(t, strings.ContainsFunc(text.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' }), "%q", text.String())
		require.NoError(t, report.Markdown(&markdown, r))
		require.NoError(t, report.JUnit(&junit, r))
		require.NoError(t, wellFormed(junit.String()))
		require.NoError(t, report.BadgeSVG(&svg, r))
		require.NoError(t, wellFormed(svg.String()))
		require.NoError(t, report.BadgeJSON(&badge, r))
		require.True(t, json.Valid(badge.Bytes()))
		require.NoError(t, report.HTML(&html, []*conformance.Results{r, r}))
		// HTML has characters that XML 1.0 has not; they are not what is looked for.
		page := strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\n' || r >= 0xFFFE {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(html.String(), " "))
		require.NoError(t, wellFormed(page))
		for _, bad := range []string{`"NaN`, `"+Inf`, `"-Inf`, "<script"} {
			require.False(t, strings.Contains(page, bad), bad) //nolint:testifylint // a page in a message helps nobody
		}
	})
}

func wellFormed(document string) error {
	for decoder := xml.NewDecoder(strings.NewReader(document)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
