package consumer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Three long polls that bring nothing: an observer is told of each, so that it can
// tell a quiet queue from a poll that hangs.
func TestQuietQueueIsTold(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		w := &watcher{}
		b.cfg.Observer, b.cfg.UntilEmpty = w, 45*time.Second
		_, err := b.consumer(t).Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"received 0", "received 0", "received 0"}, w.events)
	})
}
