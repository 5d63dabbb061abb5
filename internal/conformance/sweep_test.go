package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLeftover: only a queue with both tags, whose name is of the run that they name,
// is ever taken for one of a dead run.
func TestLeftover(t *testing.T) {
	t.Parallel()
	now := epoch
	tags := func(run string, ends time.Time) map[string]string {
		return map[string]string{RunTag: run, ExpiresTag: ends.Format(time.RFC3339)}
	}
	over, alive := now.Add(-time.Second), now.Add(time.Second)
	for _, tt := range []struct {
		name string
		tags map[string]string
		run  string // named
		dead bool
	}{
		{"its run is over", tags("7f3a", over), "", true},
		{"this very moment", tags("7f3a", now), "", true},
		{"its run may be alive", tags("7f3a", alive), "", false},
		{"its run may be alive, and was named", tags("7f3a", alive), "7f3a", true},
		{"another run was named", tags("7f3a", over), "9c21", false},
		{"no tags", nil, "", false},
		{"no tags, and its run was named", nil, "7f3a", false},
		{"only the run", map[string]string{RunTag: "7f3a"}, "7f3a", false},
		{"only the end", map[string]string{ExpiresTag: over.Format(time.RFC3339)}, "", false},
		{"an end that cannot be read", map[string]string{RunTag: "7f3a", ExpiresTag: "yesterday"}, "", false},
		{"the tags of another run", tags("9c21", over), "", false},
	} {
		l := Leftover{Name: QueuePrefix + "7f3a-001-x-1.fifo"}
		l.read(tt.tags, now, tt.run)
		require.Equal(t, tt.dead, l.Dead, tt.name)
		require.Equal(t, tt.dead, l.Why == "", tt.name)
	}
}
