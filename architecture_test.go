// Package fifoproof_test holds the house together: who may import whom.
package fifoproof_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// below lists, for each package, the packages of ours that it may import. Imports
// run downward only; what is not listed is forbidden.
var below = map[string][]string{
	"internal/window":              {},
	"internal/contenthash":         {},
	"internal/clock":               {},
	"internal/cli":                 {},
	"internal/awserr":              {"internal/budget"},
	"internal/budget":              {},
	"internal/receipt":             {},
	"internal/receipt/sqlstore":    {"internal/receipt"},
	"internal/receipt/sqlite":      {"internal/receipt", "internal/receipt/sqlstore"},
	"internal/receipt/postgres":    {"internal/receipt", "internal/receipt/sqlstore"},
	"internal/receipt/pgtest":      {"internal/receipt/postgres"},
	"internal/backoff":             {},
	"internal/webpage":             {},
	"internal/handler":             {"internal/contenthash", "internal/receipt"},
	"internal/telemetry":           {"internal/consumer", "internal/handler", "internal/receipt", "internal/clock"},
	"internal/deadletter":          {"internal/awserr", "internal/clock", "internal/contenthash", "internal/receipt"},
	"internal/timeline":            {"internal/receipt", "internal/webpage"},
	"internal/fifo":                {"internal/window"},
	"internal/emulator":            {"internal/fifo", "internal/window", "internal/clock", "internal/cli"},
	"internal/target":              {"internal/awserr", "internal/budget", "internal/emulator", "internal/window", "internal/clock", "internal/cli"},
	"internal/producer":            {"internal/awserr", "internal/contenthash", "internal/window", "internal/clock"},
	"internal/consumer":            {"internal/awserr", "internal/backoff", "internal/handler", "internal/contenthash", "internal/receipt", "internal/window", "internal/clock"},
	"internal/conformance":         {"internal/awserr", "internal/budget", "internal/producer", "internal/consumer", "internal/contenthash", "internal/receipt", "internal/window", "internal/clock", "internal/cli"},
	"internal/audit":               {"internal/producer", "internal/receipt", "internal/window", "internal/cli"},
	"internal/audit/audittest":     {"internal/producer", "internal/receipt"},
	"internal/report":              {"internal/audit", "internal/conformance", "internal/webpage"},
	"internal/receipt/receipttest": {"internal/receipt"},
}

// onlyIn names packages outside the module that few of ours may import.
var onlyIn = map[string][]string{
	"github.com/aws/aws-sdk-go-v2/config":            {"internal/target", "cmd/"},
	"github.com/aws/aws-sdk-go-v2/credentials":       {"internal/target", "cmd/"},
	"github.com/aws/aws-sdk-go-v2/service/sts":       {"internal/target"},
	"modernc.org/sqlite":                             {"internal/receipt/sqlite"},
	"fifoproof/internal/receipt/sqlite":              {"cmd/", "examples/"},
	"fifoproof/internal/receipt/postgres":            {"cmd/", "examples/", "internal/receipt/pgtest"},
	"github.com/jackc/pgx/v5":                        {"internal/receipt/postgres"},
	"github.com/alecthomas/kong":                     {"internal/cli", "cmd/"},
	"github.com/jotaen/kong-completion":              {"internal/cli"},
	"github.com/posener/complete":                    {"internal/cli"},
	"github.com/prometheus/client_golang/prometheus": {"internal/telemetry"},
	"go.opentelemetry.io/otel/trace":                 {"internal/telemetry"},
	"go.opentelemetry.io/otel/sdk/trace":             {"cmd/"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	require.NoError(t, err)
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, p)
	}
}

func TestImportsRunDownward(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "fifoproof/")
		allowed, known := below[name]
		if strings.HasPrefix(name, "internal/") {
			require.True(t, known, "%s has no place in the house: add it to the list, low as it can be", name)
		}
		for _, imported := range p.Imports {
			if ours, isOurs := strings.CutPrefix(imported, "fifoproof/"); isOurs && known {
				require.Contains(t, allowed, ours, "%s must not import %s", name, ours)
			}
			if places, bound := onlyIn[imported]; bound {
				require.True(t, slices.ContainsFunc(places, func(place string) bool { return strings.HasPrefix(name, place) }),
					"%s must not import %s: only %v may", name, imported, places)
			}
		}
	}
}

func TestPurePackagesStayPure(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.ImportPath != "fifoproof/internal/window" && p.ImportPath != "fifoproof/internal/contenthash" {
			continue
		}
		for _, imported := range p.Imports {
			first, _, _ := strings.Cut(imported, "/")
			require.NotContains(t, first, ".", "%s stands on the standard library alone, not on %s", p.ImportPath, imported)
			require.NotContains(t, []string{"net", "net/http", "os", "io/fs"}, imported, "%s does no I/O", p.ImportPath)
		}
	}
}
