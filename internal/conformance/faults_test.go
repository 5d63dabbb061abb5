package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/conformance"
	"fifoproof/internal/receipt/sqlite"
	"fifoproof/internal/target"
)

// verdicts of a run by case id, and those that are no pass.
func verdicts(results *conformance.Results) map[string]conformance.Verdict {
	out := map[string]conformance.Verdict{}
	for _, r := range results.Cases {
		if r.Verdict != conformance.Pass && r.Verdict != conformance.Noted {
			out[r.ID] = r.Verdict
		}
	}
	return out
}

// TestPlantedFaults plants one fault at a time. Each is caught by the cases named
// here and by no other: a case that fails for the wrong reason proves as little as
// one that passes.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault  string
		caught []string
	}{
		{"window-slides", []string{"window/anchor/not-sliding"}},
		{"forgets-on-delete", []string{
			"window/resend/at-once", "window/resend/half-time", "window/resend/inside-late",
			"window/anchor/reopens", "window/anchor/not-sliding",
			"scope/queue/other-group",
			"content/spelling/key-order", "content/spelling/white-space", "content/spelling/escapes", "content/spelling/numbers",
			"content/hash/equivalence",
			"batch/entries/after-single", "lifecycle/resend/after-delete",
		}},
		{"scope-ignored", []string{"scope/group/other-group", "scope/group/interleaved"}},
		{"duplicate-enqueued", []string{
			"window/basic/ten-identical",
			"window/resend/at-once", "window/resend/half-time", "window/resend/inside-late",
			"window/anchor/reopens", "window/anchor/not-sliding",
			"scope/queue/other-group", "scope/group/interleaved",
			"content/spelling/key-order", "content/spelling/white-space", "content/spelling/escapes", "content/spelling/numbers",
			"content/hash/equivalence", "content/body/first-stays",
			"batch/entries/same-id", "batch/entries/after-single",
			"lifecycle/resend/after-delete", "lifecycle/resend/while-in-flight",
			"transport/lost-reply/retried", "transport/lost-reply/producer",
		}},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			results := run(t, conformance.Catalogue(), setup(t, target.Embedded, tt.fault))
			want := map[string]conformance.Verdict{}
			for _, id := range tt.caught {
				want[id] = conformance.Fail
			}
			require.Equal(t, want, verdicts(results))
			require.Equal(t, 1, results.Summary.Exit)
		})
	}
}

// TestConsumerThatHidesDeliveries: with a unique key on receipts the second of two
// deliveries leaves no trace in the store. The wire saw it, so the suite does not
// believe its own consumer: an error of the harness, never a verdict.
func TestConsumerThatHidesDeliveries(t *testing.T) {
	t.Parallel()
	const control = "receive/control/one-body-two-ids"
	results := run(t, conformance.Catalogue(), setup(t, target.Embedded, "", sqlite.UniqueReceipts()))
	got := verdicts(results)
	require.Equal(t, conformance.Errored, got[control])
	for id, verdict := range got {
		require.Equal(t, conformance.Errored, verdict, id)
	}
	require.Equal(t, 3, results.Summary.Exit)
	for _, r := range results.Cases {
		if r.ID == control {
			require.Contains(t, r.Reason, "receipts")
		}
	}
}

// TestFaultOutranksHarnessError: a broken endpoint is worse news than a broken harness.
func TestFaultOutranksHarnessError(t *testing.T) {
	t.Parallel()
	results := run(t, conformance.Catalogue(), setup(t, target.Embedded, "forgets-on-delete", sqlite.UniqueReceipts()))
	require.NotZero(t, results.Summary.Error)
	require.NotZero(t, results.Summary.Fail)
	require.Equal(t, 1, results.Summary.Exit)
}

// TestForeignTargetIsNotBoundByInfo: what AWS has not published is printed of a
// stranger and never held against it.
func TestForeignTargetIsNotBoundByInfo(t *testing.T) {
	t.Parallel()
	s := setup(t, target.Embedded, "window-slides")
	s.Own = false
	results := run(t, conformance.Catalogue(), s)
	require.Empty(t, verdicts(results))
	require.Zero(t, results.Summary.Exit)
	for _, r := range results.Cases {
		if r.ID == "window/anchor/not-sliding" {
			require.Equal(t, conformance.Noted, r.Verdict)
			require.Contains(t, r.Seen, "the probe: no copy")
		}
	}
}
