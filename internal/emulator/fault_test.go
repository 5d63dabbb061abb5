package emulator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/emulator"
	"fifoproof/internal/window"
)

// Every fault differs from the right endpoint, over the protocol, in the one probe
// that is named after it.
func TestFaults(t *testing.T) {
	t.Parallel()
	probes := map[emulator.Fault]func(*endpoint, string) []string{
		emulator.WindowSlides: func(e *endpoint, queue string) []string {
			e.send(queue, "a", "x", "first")
			e.pass(window.Length / 2)
			e.send(queue, "a", "x", "half")
			e.pass(window.Length / 2)
			e.send(queue, "a", "x", "end")
			return bodies(e.receive(queue))
		},
		emulator.ForgetsOnDelete: func(e *endpoint, queue string) []string {
			e.send(queue, "a", "x", "first")
			e.delete(queue, e.receive(queue)[0])
			e.pass(time.Second)
			e.send(queue, "a", "x", "second")
			return bodies(e.receive(queue))
		},
		emulator.ScopeIgnored: func(e *endpoint, queue string) []string {
			e.send(queue, "a", "x", "in a")
			e.send(queue, "b", "x", "in b")
			return bodies(e.receive(queue))
		},
		emulator.DuplicateEnqueued: func(e *endpoint, queue string) []string {
			first := e.send(queue, "a", "x", "first")
			require.Equal(e.t, *first.MessageId, *e.send(queue, "a", "x", "second").MessageId)
			got := e.receive(queue)
			for _, m := range got {
				require.Equal(e.t, *first.MessageId, *m.MessageId)
				require.Equal(e.t, *first.SequenceNumber, m.Attributes["SequenceNumber"])
				require.Equal(e.t, "1", m.Attributes["ApproximateReceiveCount"])
			}
			return bodies(got)
		},
	}
	right := map[emulator.Fault][]string{
		emulator.WindowSlides:      {"first", "end"},
		emulator.ForgetsOnDelete:   {},
		emulator.ScopeIgnored:      {"in a", "in b"},
		emulator.DuplicateEnqueued: {"first"},
	}
	wrong := map[emulator.Fault][]string{
		emulator.WindowSlides:      {"first"},
		emulator.ForgetsOnDelete:   {"second"},
		emulator.ScopeIgnored:      {"in a"},
		emulator.DuplicateEnqueued: {"first", "second"},
	}
	require.Len(t, probes, len(emulator.Faults()), "every fault has a probe")
	for _, fault := range emulator.Faults() {
		run := func(planted emulator.Fault) []string {
			e := newEndpoint(t, planted)
			return probes[fault](e, e.create("a.fifo", "DeduplicationScope", "messageGroup", "VisibilityTimeout", "3600"))
		}
		require.Equal(t, right[fault], run(""), fault)
		require.Equal(t, wrong[fault], run(fault), fault)
	}
}

func TestUnknownFault(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, "no-such-fault")
	_, err := e.sdk.ListQueues(t.Context(), nil)
	require.ErrorContains(t, err, `no fault is named "no-such-fault"`)
	require.Error(t, e.server.CreateQueue("a.fifo"))
	r := call(t, e.server, "ListQueues", "{}")
	require.Equal(t, 500, r.status)
	require.Equal(t, "InternalFailure;Receiver", r.header.Get("X-Amzn-Query-Error"))
}
