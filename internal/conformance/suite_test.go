package conformance_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/conformance"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
	"fifoproof/internal/target"
)

// setup is a run against the target that FIFOPROOF_TARGET names, or against the
// embedded endpoint, as a variant of it if one is given.
func setup(t *testing.T, spec string, variant string, options ...sqlite.Option) conformance.Setup {
	t.Helper()
	opened, _, err := target.Open(t.Context(), spec, os.LookupEnv)
	require.NoError(t, err)
	if variant != "" {
		opened = target.Variant(1, variant)
	}
	return conformance.Setup{
		Target:  conformance.Target{Name: opened.Name, Product: opened.Product, Version: opened.Version, Clock: opened.Clock},
		Run:     "test",
		Connect: opened.Connect,
		Store: func(ctx context.Context) (receipt.Store, error) {
			return sqlite.Open(ctx, sqlite.Memory(), options...)
		},
		Own: opened.Own(), Virtual: spec == target.Embedded, Exact: opened.Clock == "virtual", Serial: opened.Shared(),
		Profile: conformance.Default, Expires: time.Now().Add(time.Hour),
	}
}

func run(t *testing.T, cases []conformance.Case, s conformance.Setup) *conformance.Results {
	t.Helper()
	results, err := conformance.Run(t.Context(), cases, s, func(conformance.Event) {})
	require.NoError(t, err)
	return results
}

// TestConformance runs the whole catalogue: embedded, or with FIFOPROOF_TARGET=URL
// in real time against that endpoint.
func TestConformance(t *testing.T) {
	t.Parallel()
	spec := os.Getenv("FIFOPROOF_TARGET")
	if spec == "" {
		spec = target.Embedded
	}
	s := setup(t, spec, "")
	s.Run = conformance.Slug([4]byte{byte(os.Getpid()), byte(os.Getpid() >> 8), 0, 1})
	results := run(t, conformance.Catalogue(), s)
	for _, r := range results.Cases {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			t.Log(r.Verdict, r.Seen)
			bad := []conformance.Verdict{conformance.Fail, conformance.Errored, conformance.Inconclusive}
			require.False(t, slices.Contains(bad, r.Verdict), "%s %s\nexpected: %s\nseen: %s\nreason: %s", r.Level, r.Verdict, r.Expected, r.Seen, r.Reason)
		})
	}
}
