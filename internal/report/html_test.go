package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

func page(t *testing.T, all ...*conformance.Results) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.HTML(&b, all))
	return b.Bytes()
}

// has and lacks look for a text in a page without printing the page.
func has(t *testing.T, content, text string) {
	t.Helper()
	if !strings.Contains(content, text) {
		t.Errorf("the page lacks %q", text)
	}
}

func lacks(t *testing.T, content, text string) {
	t.Helper()
	if strings.Contains(content, text) {
		t.Errorf("the page has %q", text)
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	golden(t, "report.html", page(t, foreign()))
	golden(t, "report-exact.html", page(t, own(12)))
	golden(t, "report-queue.html", page(t, given()))
	golden(t, "report-several.html", page(t, own(12), warned()))
}

// The page is written so that it is well-formed XML too: then a reader of XML proves
// that each element ends and each attribute is quoted, whatever an endpoint said.
func TestHTMLIsWellFormed(t *testing.T) {
	t.Parallel()
	for _, content := range [][]byte{page(t, foreign()), page(t, own(40)), page(t, own(12), foreign(), warned(), given()), page(t), page(t, &conformance.Results{})} {
		// XML 1.0 has no control characters, HTML does.
		decoder := xml.NewDecoder(strings.NewReader(strings.ReplaceAll(string(content), "\x01", " ")))
		drawings := 0
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if start, ok := token.(xml.StartElement); ok {
				require.NotContains(t, []string{"script", "link", "img", "iframe"}, start.Name.Local)
				if start.Name.Local == "svg" {
					drawings++
				}
				for _, a := range start.Attr {
					require.False(t, strings.HasPrefix(a.Name.Local, "on"), "no handlers")
					require.NotContains(t, a.Value, "NaN")
					require.NotContains(t, a.Value, "Inf")
					require.NotContains(t, a.Value, "ZgotmplZ", "the template engine refused a value")
				}
			}
		}
		require.Positive(t, drawings)
	}
}

// Nothing on the page is loaded from elsewhere.
func TestHTMLStandsAlone(t *testing.T) {
	t.Parallel()
	content := string(page(t, foreign(), own(30)))
	for _, outside := range []string{"src=", "@import", "url(http", "<link", "<script"} {
		lacks(t, content, outside)
	}
}

// A report of the whole catalogue opens on a phone: it stays small.
func TestHTMLIsSmall(t *testing.T) {
	t.Parallel()
	require.Less(t, len(page(t, own(110))), 1_500_000)
}

func TestHTMLIsDeterministic(t *testing.T) {
	t.Parallel()
	require.True(t, bytes.Equal(page(t, foreign(), own(30)), page(t, foreign(), own(30))))
}

// A link that a known-failing list gives is a link to the web, or none.
func TestHTMLRefusesOtherSchemes(t *testing.T) {
	t.Parallel()
	r := foreign()
	for i := range r.Cases {
		if r.Cases[i].Known != nil {
			r.Cases[i].Known.Link = "javascript:alert(1)"
		}
	}
	lacks(t, string(page(t, r)), "javascript:")
}

// The rules of the drawing, each on the smallest case that shows it.
func TestTimelines(t *testing.T) {
	t.Parallel()
	const ns = 1e-9
	for name, c := range map[string]struct {
		story *story
		has   []string
		lacks []string
	}{
		"inside": {
			tell("a/b/c", conformance.Must, conformance.Pass).send(0, "g", "i", 0, 0, 1, "").send(0, "g", "i", 300-ns, 300-ns, 1, "the resend").window(0, "", "i", 0, 0, 0),
			[]string{"send 2 (the resend) is over 1 ns before its window ends: inside", "window ends at 300.000 s", ">−1 ns<", ">end<"},
			nil,
		},
		"at the very end": {
			tell("a/b/c", conformance.Must, conformance.Pass).send(0, "g", "i", 0, 0, 1, "").send(0, "g", "i", 300, 300, 2, "").window(0, "", "i", 0, 0, 0),
			[]string{"send 2 begins at the very end of its window: outside"},
			nil,
		},
		"outside": {
			tell("a/b/c", conformance.Must, conformance.Pass).send(0, "g", "i", 0, 0.004, 1, "").send(0, "g", "i", 300.070, 300.072, 2, "").window(0, "", "i", 0, 0.004, 0.06),
			[]string{"send 2 begins 6 ms after its window has ended: outside"},
			nil,
		},
		"across": {
			tell("a/b/c", conformance.Must, conformance.Inconclusive).send(0, "g", "i", 0, 0.004, 1, "").send(0, "g", "i", 299.999, 300.02, 2, "").window(0, "", "i", 0, 0.004, 0.06),
			[]string{"send 2 lies across the end of its window, so it cannot be said on which side"},
			nil,
		},
		"far from the end": {
			tell("a/b/c", conformance.Must, conformance.Pass).send(0, "g", "i", 0, 0.004, 1, "").send(0, "g", "i", 1, 1.004, 1, "").window(0, "", "i", 0, 0.004, 0.06),
			[]string{"window until 300.002 s", "nothing was received"},
			[]string{"enlarged"},
		},
		"no answer": {
			tell("a/b/c", conformance.Must, conformance.Pass).lost("g", "i", 0.5, "").send(0, "g", "i", 2, 2.1, 1, ""),
			[]string{"send lost", "send 1 from 0.500 s, no answer"},
			nil,
		},
		"refused": {
			tell("a/b/c", conformance.Must, conformance.Pass).refused("g", "i", 0, 1, "InvalidParameterValue", ""),
			[]string{"send refused", "refused: InvalidParameterValue"},
			nil,
		},
		"an instant": {
			tell("a/b/c", conformance.Must, conformance.Pass).send(0, "g", "i", 0, 0, 1, "").got(0, "g", "i", 0, 0, 1, false),
			[]string{`class="send" x="0%" width="0.01%"`, `class="got copy"`},
			nil,
		},
		"a stranger": {
			tell("a/b/c", conformance.Must, conformance.Fail).send(0, "g", "i", 0, 0.1, 1, "").got(0, "g", "i", 0.2, 0.3, 99, true),
			[]string{`class="got again"`, "message ? received at 0.300 s"},
			nil,
		},
		"many groups": {
			func() *story {
				s := tell("a/b/c", conformance.Must, conformance.Pass)
				for i := range 9 {
					s.send(0, string(rune('a'+i)), "i", float64(i), float64(i)+0.5, i+1, "")
				}
				return s
			}(),
			[]string{"group a", "group e", "4 more groups"},
			[]string{`class="name" x="-74" y="5">group f`},
		},
		"two queues": {
			tell("a/b/c", conformance.Must, conformance.Pass).send(0, "g", "i", 0, 0.1, 1, "").send(1, "h", "i", 0.2, 0.3, 2, ""),
			[]string{"queue 1 · group g", "queue 2 · group h"},
			nil,
		},
		"nothing recorded": {tell("a/b/c", conformance.Must, conformance.Pass), nil, []string{"timeline of"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := string(page(t, &conformance.Results{Cases: []conformance.Result{c.story.r}}))
			for _, text := range c.has {
				has(t, content, text)
			}
			for _, text := range c.lacks {
				lacks(t, content, text)
			}
		})
	}
}

// An edge says no more than was seen: it is rounded outward, and a side that no probe
// was sure of is not there.
func TestEdge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edge conformance.Edge
		want string
	}{
		"rounded outward":    {conformance.Edge{SuppressedUpTo: new(299.8129), DeliveredFrom: new(300.2401)}, "suppressed up to 299.812 s, delivered from 300.241 s"},
		"exact":              {conformance.Edge{SuppressedUpTo: new(300 - 1e-9), DeliveredFrom: new(300.0)}, "suppressed up to 299.999 999 999 s, delivered from 300.000 000 000 s"},
		"microsecond":        {conformance.Edge{SuppressedUpTo: new(300 - 1e-6), DeliveredFrom: new(300.0)}, "suppressed up to 299.999 999 s, delivered from 300.000 000 s"},
		"always suppressed":  {conformance.Edge{SuppressedUpTo: new(310.0)}, "suppressed up to 310.000 s; no longer gap was surely delivered"},
		"never suppressed":   {conformance.Edge{DeliveredFrom: new(290.0)}, "delivered from 290.000 s; no shorter gap was surely suppressed"},
		"nothing was proved": {conformance.Edge{}, "no gap was surely suppressed, and none surely delivered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.edge.Probes = []conformance.Probe{{Min: 299, Max: 299.1}, {Min: 329, Max: 331, Delivered: true}}
			r := &conformance.Results{Target: conformance.Target{Name: "x", Clock: "real"}, Cases: []conformance.Result{{ID: "window/edge/x", Edge: &c.edge}}}
			content := string(page(t, r))
			has(t, content, strings.ToUpper(c.want[:1])+c.want[1:])
			has(t, content, ">330 s<") // the axis is as long as the probes need
			var text bytes.Buffer
			require.NoError(t, report.Text(&text, r, report.Style{}))
			require.Contains(t, text.String(), "edge        "+c.want+"\n")
		})
	}
}
