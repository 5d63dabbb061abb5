package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
	"fifoproof/internal/target"
)

// TestPricesAreFresh: the tables in docs/operations.md of what a run costs on AWS are what
// the plans come to.
func TestPricesAreFresh(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	for _, profile := range []conformance.Profile{conformance.QuickProfile, conformance.Default, conformance.Experiments} {
		s := selection{Target: target.AWS, Profile: profile}
		cases, premises, err := s.cases()
		require.NoError(t, err)
		setup, err := setUp(target.Variant(0), cases)
		require.NoError(t, err)
		// As Amazon SQS is opened: a stranger, in real time, for money.
		setup.Own, setup.Virtual, setup.Exact, setup.Charged = false, false, false, true
		setup.Profile, setup.Premises = profile, premises
		plan, err := rehearse(t.Context(), cases, setup)
		require.NoError(t, err)
		row := fmt.Sprintf("| %s | %d | %d | %d | %d × $0.50 / 1,000,000 = $%.4f |", profile, len(plan.Cases), plan.Queues, plan.Calls, plan.Requests, plan.Dollars)
		require.Contains(t, string(text), row, "about %s", report.Duration(plan.Duration()))
		if profile == conformance.Default {
			row = fmt.Sprintf("| the suite beside the queue | %d | %d × $0.50 / 1,000,000 = $%.4f |", plan.Calls, plan.Requests, plan.Dollars)
			require.Contains(t, string(text), row)
		}
	}
}
