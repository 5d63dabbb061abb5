package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPolicy: what counts for the exit code, beside the rank of the verdicts.
func TestPolicy(t *testing.T) {
	t.Parallel()
	skipped := Result{ID: "a", Level: Must, Verdict: Skipped}
	for _, tt := range []struct {
		name   string
		policy Policy
		result Result
		exit   int
	}{
		{"what could not be tested was not passed", Policy{}, skipped, 2},
		{"unless that is allowed", Policy{AllowSkip: []string{"a"}}, skipped, 0},
		{"for this case only", Policy{AllowSkip: []string{"b"}}, skipped, 2},
		{"or the endpoint is merely slow", Policy{}, Result{Level: Must, Verdict: Skipped, Slow: true}, 0},
		{"or an open question is a warning", Policy{Inconclusive: Warn}, skipped, 0},
		{"a skipped SHOULD", Policy{}, Result{Level: Should, Verdict: Skipped}, 0},
		{"a skipped SHOULD, strict", Policy{Strict: true}, Result{Level: Should, Verdict: Skipped}, 2},
		{"a skipped INFO, strict", Policy{Strict: true}, Result{Level: Info, Verdict: Skipped}, 0},
		{"non-strict", Policy{}, Result{Level: Should, Verdict: NonStrict}, 0},
		{"non-strict, strict", Policy{Strict: true}, Result{Level: Should, Verdict: NonStrict}, 1},
		{"inconclusive", Policy{Inconclusive: "fail"}, Result{Level: Must, Verdict: Inconclusive}, 2},
		{"inconclusive on a queue that others read, with nothing missed", Policy{Strict: true}, Result{Level: Must, Verdict: Inconclusive, Shared: true}, 0},
		{"inconclusive, a warning", Policy{Inconclusive: Warn}, Result{Level: Must, Verdict: Inconclusive}, 0},
		{"a warning excuses no failure", Policy{Inconclusive: Warn}, Result{Level: Must, Verdict: Fail}, 1},
		{"nor a broken harness", Policy{Inconclusive: Warn}, Result{Level: Must, Verdict: Errored}, 3},
		{"known", Policy{Strict: true}, Result{Level: Must, Verdict: Fail, Known: &Known{}}, 0},
	} {
		require.Equal(t, tt.exit, tt.policy.summarise([]Result{tt.result}).Exit, tt.name)
	}
}

// TestPremises: an absence counts only where the cases it builds on have passed.
func TestPremises(t *testing.T) {
	t.Parallel()
	c := Case{Premises: []string{orderPremise, unlockPremise}}
	good := map[string]Verdict{orderPremise: Pass, unlockPremise: Pass}
	absent := finding{verdict: Pass, seen: "no copy", byAbsence: true}
	require.Equal(t, absent, c.rest(absent, good))
	for _, v := range []Verdict{Fail, Inconclusive, Skipped, Errored} {
		f := c.rest(absent, map[string]Verdict{orderPremise: v, unlockPremise: Pass})
		require.Equal(t, Inconclusive, f.verdict)
		require.Equal(t, "its premise "+orderPremise+" came to "+string(v), f.reason)
	}
	f := c.rest(absent, map[string]Verdict{orderPremise: Pass})
	require.Equal(t, "its premise "+unlockPremise+" was not run", f.reason)
	tooMany := finding{verdict: Fail, seen: "2 copies"}
	require.Equal(t, tooMany, c.rest(tooMany, nil), "what was seen needs no premise")

	catalogue := Catalogue()
	selected, err := Select(catalogue, []string{"window/resend/at-once"})
	require.NoError(t, err)
	closed, added := Close(catalogue, selected)
	require.Equal(t, []string{orderPremise, unlockPremise}, added)
	require.Len(t, closed, 3)
	closed, added = Close(catalogue, catalogue)
	require.Empty(t, added)
	require.Len(t, closed, len(catalogue))
}
