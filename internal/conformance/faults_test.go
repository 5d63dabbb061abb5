package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
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

var update = flag.Bool("update", false, "write testdata/kills.txt anew")

// TestPlantedFaults plants one fault at a time, of four kinds. Each is caught by the
// cases in testdata/kills.txt and by no other: a case that fails for the wrong reason
// proves as little as one that passes. 'fifoproof mutants' goes through all of them.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	faults := []string{"window-slides", "forgets-on-delete", "scope-ignored", "duplicate-enqueued"}
	var got strings.Builder
	for _, fault := range faults {
		results := run(t, conformance.Catalogue(), setup(t, target.Embedded, fault))
		require.Equal(t, 1, results.Summary.Exit)
		for _, r := range results.Cases {
			if r.Verdict != conformance.Pass && r.Verdict != conformance.Noted {
				fmt.Fprintf(&got, "%s  %s  %s\n", fault, r.ID, r.Verdict)
			}
		}
	}
	const file = "testdata/kills.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "go test ./internal/conformance -update writes it anew")
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
