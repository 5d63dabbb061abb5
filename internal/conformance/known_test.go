package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const list = `# What the endpoint is known for.

lifecycle/resend/after-delete
    seen: the resend: 1 copy, not 0
    link: https://example.org/issues/1
    note: an id is forgotten with its message

window/resend/half-time
	seen: x
	link: y
	note: z
`

func TestReadKnown(t *testing.T) {
	t.Parallel()
	got, err := ReadKnown(strings.NewReader(list))
	require.NoError(t, err)
	require.Equal(t, []Known{
		{ID: "lifecycle/resend/after-delete", Seen: "the resend: 1 copy, not 0", Link: "https://example.org/issues/1", Note: "an id is forgotten with its message"},
		{ID: "window/resend/half-time", Seen: "x", Link: "y", Note: "z"},
	}, got)

	for text, want := range map[string]string{
		"    seen: x\n":                            "line 1: an indented line before the first case id",
		"a/b/c\n    sen: x\n":                      `line 2: "sen" is not one of seen, link and note`,
		"a/b/c\n    seen:\n":                       "line 2: seen is empty",
		"a/b/c\n    seen: x\n    seen: y\n":        "line 3: seen is there twice",
		"a/b/c\n    seen: x\n    link: y\n":        "at the end: the entry a/b/c needs seen, link and note",
		"a/b/c\nd/e/f\n":                           "before line 2: the entry a/b/c needs",
		list + "window/resend/half-time\n seen: x": "line 12: window/resend/half-time has an entry on line 8 already",
	} {
		_, err := ReadKnown(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}

func TestApplyKnown(t *testing.T) {
	t.Parallel()
	results := func() *Results {
		return &Results{NotRun: []string{"not-run"}, Cases: []Result{
			{ID: "a", Level: Must, Verdict: Pass},
			{ID: "b", Level: Must, Verdict: Fail, Reason: "two"},
			{ID: "c", Level: Must, Verdict: Inconclusive, Reason: "no fence"},
			{ID: "d", Level: Must, Verdict: Skipped, Reason: "lacks scope"},
			{ID: "e", Level: Must, Verdict: Errored, Reason: "broken"},
			{ID: "f", Level: Must, Verdict: Inconclusive, Reason: Interrupted},
			{ID: "g", Level: Must, Verdict: Skipped, Slow: true, Reason: "23 messages a second"},
		}}
	}
	for _, tt := range []struct {
		name  string
		list  []Known
		wrong []string
		known int
		exit  int
	}{
		{"no list", nil, nil, 0, 1},
		{"all of it", []Known{{ID: "b", Seen: "two"}, {ID: "c", Seen: "no fence"}, {ID: "d", Seen: "lacks scope"}}, nil, 3, 3},
		{"a harness error cannot be known", []Known{{ID: "b", Seen: "two"}, {ID: "e", Seen: "broken"}}, nil, 1, 3},
		{"another failure of the same case", []Known{{ID: "b", Seen: "three"}}, []string{`b failed otherwise than is known: "two", not "three"`}, 0, 1},
		{"an unexpected pass", []Known{{ID: "a", Seen: "x"}, {ID: "b", Seen: "two"}}, []string{"a is known to fail, but it came to pass"}, 1, 1},
		{"no such case", []Known{{ID: "z", Seen: "x"}}, []string{"z is no case"}, 0, 1},
		{"a case that was interrupted", []Known{{ID: "b", Seen: "two"}, {ID: "f", Seen: "x"}}, nil, 1, 3},
		{"a case that the endpoint was too slow for", []Known{{ID: "b", Seen: "two"}, {ID: "g", Seen: "x"}}, nil, 1, 3},
		{"a case that was not selected", []Known{{ID: "not-run", Seen: "x"}}, nil, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := results()
			r.apply(tt.list)
			require.Equal(t, tt.wrong, r.Stale)
			require.Equal(t, tt.known, r.Summary.Known)
			require.Equal(t, tt.exit, r.Summary.Exit)
		})
	}

	r := &Results{Cases: []Result{{ID: "b", Level: Must, Verdict: Fail, Reason: "two"}}}
	r.apply([]Known{{ID: "b", Seen: "two"}})
	require.Empty(t, r.Stale)
	require.Zero(t, r.Summary.Exit, "what is known does not count")
	require.Equal(t, 1, r.Summary.Fail, "and is still a failure")
}

func TestMissingCapability(t *testing.T) {
	t.Parallel()
	s := RunStart{Target: Target{Missing: map[Capability]string{Scope: "refused"}}}
	_, missing := s.lacks(Case{})
	require.False(t, missing)
	f, missing := s.lacks(Case{Needs: Scope})
	require.True(t, missing)
	require.Equal(t, Skipped, f.verdict)
	require.Equal(t, "the endpoint lacks the capability scope: refused", f.reason)
	s.Target.Missing = map[Capability]string{FIFO: "refused"}
	_, missing = s.lacks(Case{})
	require.True(t, missing, "without FIFO queues there is nothing to test")
}
