package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/contenthash"
)

// The committed file is what "go run ./examples/gen > examples/orders.ndjson" writes.
func TestFileIsUpToDate(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../orders.ndjson")
	require.NoError(t, err)
	var got bytes.Buffer
	require.NoError(t, write(&got))
	require.Equal(t, string(want), got.String())
}

// What examples/README.md says of the file.
func TestOrders(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, write(&out))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	exact, err := contenthash.New(contenthash.Options{})
	require.NoError(t, err)

	ids, spellings := map[string]int{}, map[string]bool{}
	decoded := map[string]bool{} // through float64, as encoding/json and JavaScript read numbers
	for _, l := range lines {
		id, err := exact.ID([]byte(l), "")
		require.NoError(t, err)
		ids[id]++
		spellings[l] = true
		var v any
		require.NoError(t, json.Unmarshal([]byte(l), &v))
		rounded, err := json.Marshal(v)
		require.NoError(t, err)
		decoded[string(rounded)] = true
	}
	require.Len(t, lines, 264)
	require.Len(t, ids, 220, "different events")
	require.Len(t, spellings, 264, "no line is another one's copy, byte for byte")
	require.Len(t, decoded, 219, "doubles lose the order that differs in its id only")
	for _, n := range ids {
		require.LessOrEqual(t, n, 2)
	}
}
