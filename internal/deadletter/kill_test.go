package deadletter

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// killAt lets the process die at its n-th call from 1, which is carried out where late is
// set: nothing that it would do then reaches the endpoint any more.
func (w *world) killAt(n int, late bool) {
	calls := 0
	w.before = func(string) error {
		calls++
		if calls > n || calls == n && !late {
			return errKilled
		}
		return nil
	}
	w.after = func(string) error {
		if calls == n {
			return errKilled
		}
		return nil
	}
}

func (w *world) revive() { w.before, w.after = nil, nil }

// run is one run of the program: it looks and puts back what it saw.
func (w *world) run(store *records) error {
	l := w.letters()
	if store != nil {
		l = w.letters(with(store))
	}
	listing, err := l.List(w.t.Context(), Filter{})
	if err != nil {
		return err
	}
	tally, err := l.Redrive(w.t.Context(), listing, func(Outcome) {})
	if err == nil && tally.Stayed() > 0 {
		return errKilled // every call fails once the process is dead
	}
	return err
}

// everyKill runs check with a world in which a run was killed, once for every call that a
// run makes, and each time before and after the call was carried out.
func everyKill(t *testing.T, store func() *records, check func(w *world, store *records, why string)) {
	t.Helper()
	kills := 0
	for n := 1; ; n++ {
		for _, late := range []bool{false, true} {
			w := newWorld(t, "a.fifo", "b.fifo")
			for i := range 6 {
				w.bury([]string{"a.fifo", "b.fifo"}[i%2], fmt.Sprint("g", i%3), fmt.Sprint(i))
			}
			var s *records
			if store != nil {
				s = store()
			}
			w.lag = time.Millisecond
			w.killAt(n, late)
			err := w.run(s)
			w.revive()
			if err == nil {
				require.Greater(t, kills, 20, "a run makes more calls than that")
				return
			}
			kills++
			check(w, s, fmt.Sprintf("killed at call %d, carried out: %v", n, late))
		}
	}
}

// Killed at any point and run again as soon as what it held is visible: nothing is lost,
// nothing comes twice, and every group keeps its order. The second run comes within five
// minutes of the first, so the source's window swallows what was sent already.
func TestRedriveKilled(t *testing.T) {
	t.Parallel()
	everyKill(t, nil, func(w *world, _ *records, why string) {
		w.pass(DefaultVisibility)
		require.NoError(t, w.run(nil), why)
		a, b := w.drain("a.fifo"), w.drain("b.fifo")
		require.ElementsMatch(t, []string{"0", "2", "4"}, bodiesOf(a), why)
		require.ElementsMatch(t, []string{"1", "3", "5"}, bodiesOf(b), why)
		inOrder(t, a)
		inOrder(t, b)
		require.Equal(t, Depth{}, w.depth("dead.fifo"), why)
	})
}

// Run again only after the window: consumers have received what had arrived, and their
// receipts say so. Nothing is lost and nothing comes twice.
func TestRedriveKilledAndRunLate(t *testing.T) {
	t.Parallel()
	everyKill(t, func() *records { return &records{} }, func(w *world, store *records, why string) {
		bodies := map[string]int{}
		consume := func() {
			for _, queue := range []string{"a.fifo", "b.fifo"} {
				got := w.drain(queue)
				store.note(queue, w.clock.Now(), receipt.Fresh, got...)
				for _, m := range got {
					bodies[*m.Body]++
				}
			}
		}
		consume()
		w.pass(6 * time.Minute)
		require.NoError(t, w.run(store), why)
		consume()
		require.Equal(t, map[string]int{"0": 1, "1": 1, "2": 1, "3": 1, "4": 1, "5": 1}, bodies, why)
		require.Equal(t, Depth{}, w.depth("dead.fifo"), why)
	})
}

// Late and without receipts a second copy can be sent. Nothing is lost, and both copies
// name the same first message, by which a consumer has one effect.
func TestRedriveKilledAndRunLateWithoutReceipts(t *testing.T) {
	t.Parallel()
	second := 0
	everyKill(t, nil, func(w *world, _ *records, why string) {
		w.pass(6 * time.Minute)
		require.NoError(t, w.run(nil), why)
		effects := map[string]string{} // body by first message
		var got []types.Message
		got = append(append(got, w.drain("a.fifo")...), w.drain("b.fifo")...)
		for _, m := range got {
			effects[text(m, AttributeFirst)] = *m.Body
		}
		require.Len(t, effects, 6, why)
		require.LessOrEqual(t, len(got), 7, why)
		second += len(got) - 6
		require.Equal(t, Depth{}, w.depth("dead.fifo"), why)
	})
	require.Positive(t, second, "that does happen, when it is killed between send and delete")
}

// A run that cannot delete: told as such, with the copy's id, and finished by the next.
func TestRedriveThatCannotDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a.fifo")
	id := w.bury("a.fifo", "g", "1")
	next := w.bury("a.fifo", "g", "2")
	l := w.letters()
	listing := w.list(l, Filter{})
	w.before = func(action string) error {
		if action == "DeleteMessage" {
			return errKilled
		}
		return nil
	}
	_, outcomes := w.redriveAs(l, listing)
	require.Equal(t, []string{
		id + " failed: its copy was sent, but it could not be deleted here: killed",
		next + " held back: message " + id + " of its group stays",
	}, outcomes)
	w.revive()
	w.redrive(w.letters(), Filter{})
	require.Equal(t, []string{"1", "2"}, bodiesOf(w.drain("a.fifo")))
}
