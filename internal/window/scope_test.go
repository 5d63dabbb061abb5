package window_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/window"
)

// The values of the queue attribute DeduplicationScope (API reference, CreateQueue).
func TestParseScope(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]window.Scope{"queue": window.ScopeQueue, "messageGroup": window.ScopeGroup} {
		got, err := window.ParseScope(value)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, value, got.String())
	}
	for _, value := range []string{"", "Queue", "messagegroup", "perMessageGroupId"} {
		_, err := window.ParseScope(value)
		require.EqualError(t, err, `deduplication scope "`+value+`": want "queue" or "messageGroup"`)
	}
	require.Equal(t, "Scope(7)", window.Scope(7).String())
}
