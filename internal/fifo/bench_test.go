package fifo_test

import (
	"strconv"
	"testing"
	"time"

	"fifoproof/internal/fifo"
)

// One send, receive and delete on a queue that holds a backlog, for several shapes
// of it: one group, as many groups as messages, and a locked front.
func BenchmarkCycle(b *testing.B) {
	for _, backlog := range []int{0, 100_000} {
		for _, groups := range []int{1, 1000, 100_000} {
			b.Run("backlog="+strconv.Itoa(backlog)+"/groups="+strconv.Itoa(groups), func(b *testing.B) {
				queue := fifo.New(defaults())
				now := start
				send := func(i int) {
					id := strconv.Itoa(i)
					if _, err := queue.Send(now, fifo.Letter{Group: strconv.Itoa(i % groups), DedupID: id, Body: id}); err != nil {
						b.Fatal(err)
					}
				}
				for i := range backlog {
					send(i)
				}
				next := backlog
				b.ReportAllocs()
				for b.Loop() {
					now = now.Add(time.Millisecond)
					send(next)
					next++
					got, _, err := queue.Receive(now, fifo.Ask{Max: 1, Visibility: -1})
					if err != nil || len(got) != 1 {
						b.Fatal(len(got), err)
					}
					if err := queue.Delete(now, got[0].Receipt); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
