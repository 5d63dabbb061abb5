package fifo_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/fifo"
	"fifoproof/internal/window"
)

// Each variant is wrong where it means to be, and right everywhere else.
func TestVariants(t *testing.T) {
	t.Parallel()
	probes := map[string]func(b *bench) []string{
		"a duplicate at half time does not extend": func(b *bench) []string {
			b.sendID("a", "x", "first")
			b.pass(window.Length / 2)
			b.sendID("a", "x", "half")
			b.pass(window.Length / 2)
			b.sendID("a", "x", "end")
			return bodies(b.receive(10))
		},
		"a delete does not end the window": func(b *bench) []string {
			b.sendID("a", "x", "first")
			b.delete(b.receive(1)[0])
			b.sendID("a", "x", "second")
			return bodies(b.receive(10))
		},
		"each group has ids of its own": func(b *bench) []string {
			b.sendID("a", "x", "in a")
			b.sendID("b", "x", "in b")
			return bodies(b.receive(10))
		},
		"a duplicate is not delivered": func(b *bench) []string {
			first := b.sendID("a", "x", "first")
			second := b.sendID("a", "x", "second")
			require.Equal(b.t, first.Sequence, second.Sequence)
			got := b.receive(10)
			for _, d := range got {
				require.Equal(b.t, first.MessageID, d.MessageID)
				require.Equal(b.t, first.Sequence, d.Sequence)
				b.delete(d)
			}
			require.Equal(b.t, fifo.Counts{}, b.queue.Counts(b.now))
			return bodies(got)
		},
		"the window ends": func(b *bench) []string {
			b.sendID("a", "x", "first")
			b.pass(window.Length)
			b.sendID("a", "x", "second")
			return bodies(b.receive(10))
		},
	}
	right := map[string][]string{
		"a duplicate at half time does not extend": {"first", "end"},
		"a delete does not end the window":         {},
		"each group has ids of its own":            {"in a", "in b"},
		"a duplicate is not delivered":             {"first"},
		"the window ends":                          {"first", "second"},
	}
	for name, c := range map[string]struct {
		variant fifo.Variant
		wrong   map[string][]string
	}{
		"right":           {fifo.Variant{}, nil},
		"window slides":   {fifo.WindowSlides(), map[string][]string{"a duplicate at half time does not extend": {"first"}}},
		"forgets deleted": {fifo.ForgetsOnDelete(), map[string][]string{"a delete does not end the window": {"second"}}},
		"scope ignored":   {fifo.ScopeIgnored(), map[string][]string{"each group has ids of its own": {"in a"}}},
		"duplicate enqueued": {fifo.DuplicateEnqueued(), map[string][]string{
			"a duplicate at half time does not extend": {"first", "half", "end"},
			"a delete does not end the window":         {"second"},
			"a duplicate is not delivered":             {"first", "second"},
		}},
	} {
		for probe, run := range probes {
			want := right[probe]
			if w, ok := c.wrong[probe]; ok {
				require.NotEqual(t, want, w)
				want = w
			}
			b := newBench(t, func(cfg *fifo.Config) {
				cfg.Scope, cfg.Variant, cfg.Visibility = window.ScopeGroup, c.variant, time.Hour
			})
			require.Equal(t, want, run(b), "%s: %s", name, probe)
		}
	}
}

// The memories of faulty queues are bounded by what is live, too.
func TestNotebookForgetsWhatIsOver(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(cfg *fifo.Config) { cfg.Variant = fifo.WindowSlides(); cfg.Retention = time.Minute })
	for i := range 4_000 {
		b.sendID("a", string(rune('a'+i%26))+b.now.String(), "x")
		b.pass(time.Second)
	}
	require.Equal(t, 60, b.queue.Counts(b.now.Add(-1)).Visible)
}
