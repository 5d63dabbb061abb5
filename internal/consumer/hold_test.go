package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/backoff"
	"fifoproof/internal/consumer"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// steadily backs off for so long, whatever the attempt.
func steadily(d time.Duration) backoff.Policy { return backoff.Policy{Base: d, Cap: d, Steady: true} }

// elsewhere lets a head fail here, and be received next by another consumer, which does
// with it what then says. here is the first one, which receives no more.
func elsewhere(t *testing.T, w *world, sent []string, then handler.Handler) (here *consumer.Consumer, stop func() consumer.Summary) {
	t.Helper()
	here = w.life(t, func(cfg *consumer.Config) {
		cfg.UntilEmpty, cfg.Worker, cfg.Backoff, cfg.MaxReceives = 0, "here", steadily(10*time.Second), 2
		cfg.Handler = inside(func(_ context.Context, _ receipt.Tx, e handler.Event) error {
			if e.MessageID == sent[0] {
				return errors.New("not here")
			}
			return nil
		})
	})
	w.cut = func(action string) error {
		if action == "ReceiveMessage" && w.called("ReceiveMessage") > 1 {
			return errors.New("connection refused")
		}
		return nil
	}
	stop = running(t, here)
	wait(t, 9*time.Second)
	require.Equal(t, consumer.Summary{Deliveries: 1, Failed: 1}, here.Summary())
	there := w.lifeOn(t, w.uncut(), w.store, func(cfg *consumer.Config) {
		cfg.Worker, cfg.MaxReceives, cfg.Handler = "there", 2, then
	})
	wait(t, 2*time.Second)
	n, _ := there.Poll(t.Context())
	require.Equal(t, 1, n, "the head alone: the others are hidden")
	wait(t, 1100*time.Millisecond)
	return here, stop
}

// The head fails here and is carried out by another consumer. The receipts tell, and
// the messages that were held behind it go on within a second or so.
func TestHeadDoneElsewhere(t *testing.T) {
	t.Parallel()
	inWorld(t, 2, func(t *testing.T, w *world) {
		sent := w.sendMany(t, "g", 4)
		here, stop := elsewhere(t, w, sent, nil)
		require.Equal(t, consumer.Summary{Deliveries: 4, Effects: 3, Failed: 1}, here.Summary())
		stop()
		require.Equal(t, map[string][]string{"g": sent}, w.doers())
		require.Equal(t, "0+0", w.left(t, w.url))
	})
}

// The same where it fails there for the last time.
func TestHeadDeadElsewhere(t *testing.T) {
	t.Parallel()
	inWorld(t, 2, func(t *testing.T, w *world) {
		sent := w.sendMany(t, "g", 4)
		here, stop := elsewhere(t, w, sent, inside(func(context.Context, receipt.Tx, handler.Event) error {
			return errors.New("nor there")
		}))
		require.Equal(t, consumer.Summary{Deliveries: 4, Effects: 3, Failed: 1}, here.Summary())
		stop()
		require.Equal(t, map[string][]string{"g": sent[1:]}, w.doers())
		w.cut = nil
		require.Empty(t, w.look(t, w.url))
		require.Equal(t, sent[:1], w.look(t, w.dead))
	})
}

// Nobody ever gets the head again: what is held behind it is given back when one
// visibility timeout has passed after its back-off, the last first.
func TestHeadNeverShows(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		began := time.Now()
		b.cfg.Backoff = steadily(7 * time.Second)
		b.cfg.Handler = inside(func(context.Context, receipt.Tx, handler.Event) error { return errors.New("no") })
		var back []time.Duration
		b.queue.onHide = func(_ string, seconds int32) (*types.BatchResultErrorEntry, error) {
			if seconds == 0 {
				back = append(back, time.Since(began))
			}
			return nil, nil
		}
		b.queue.give(order("m1", "g", 1), order("m2", "g", 2), order("m3", "g", 3))
		c, stop := b.start(t)
		wait(t, 50*time.Second)
		require.Equal(t, consumer.Summary{Deliveries: 3, Failed: 1, HeldBack: 2}, c.Summary())
		require.Equal(t, []time.Duration{37 * time.Second, 37 * time.Second}, back, "7 s and then 30 s")
		hides := b.diary.read("hide")
		require.Equal(t, []string{"hide hm3:0", "hide hm2:0"}, hides[len(hides)-2:])
		require.Equal(t, "hide hm1:7", hides[0])
		require.Contains(t, b.receipts(t)[1].Reason, "neither done nor dead")
		stop()
		require.Len(t, b.diary.read("begin"), 1)
	})
}

// On the end of the run, held messages are given back at once.
func TestHeldMessagesAreDrained(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Backoff = steadily(time.Minute)
		b.cfg.Handler = inside(func(context.Context, receipt.Tx, handler.Event) error { return errors.New("no") })
		b.queue.give(order("m1", "g", 1), order("m2", "g", 2), order("m3", "g", 3))
		_, stop := b.start(t)
		wait(t, 5*time.Second)
		require.Equal(t, consumer.Summary{Deliveries: 3, Failed: 1, HeldBack: 2}, stop())
		require.Equal(t, []string{"hide hm1:60", "hide hm3:0", "hide hm2:0"}, b.diary.read("hide"))
	})
}

// While one group's head backs off, other groups go on, and there is room for them: what
// is held takes none.
func TestOneGroupHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	inWorld(t, 3, func(t *testing.T, w *world) {
		for n := range 12 {
			w.sendMany(t, fmt.Sprint("bad", n), 10)
		}
		w.sendMany(t, "good", 10)
		calls := &log{}
		c := w.life(t, func(cfg *consumer.Config) {
			cfg.Concurrency, cfg.UntilEmpty, cfg.Backoff = 1, 0, steadily(20*time.Second)
			cfg.Handler = poisoned(calls, `"group":"bad`)
		})
		stop := running(t, c)
		wait(t, 10*time.Second)
		require.Equal(t, consumer.Summary{Deliveries: 22, Effects: 10, Failed: 12}, c.Summary(), "twelve heads, and all of the good group")
		wait(t, 10*time.Minute)
		summary := stop()
		require.Equal(t, int64(130), summary.Deliveries-int64(2*120), "each of the bad ones failed three times, and none was carried along")
		require.Equal(t, int64(360), summary.Failed)
		require.Equal(t, "120+0", w.left(t, w.dead))
	})
}

// C91, C92: the head is dead; its group goes on, a new message of the group is carried
// out, and one that is brought back comes after those that were behind it.
func TestGroupGoesOnAfterADeadLetter(t *testing.T) {
	t.Parallel()
	inWorld(t, 3, func(t *testing.T, w *world) {
		sent := w.sendMany(t, "g", 3)
		broken := true
		set := func(cfg *consumer.Config) {
			cfg.Handler = inside(func(_ context.Context, _ receipt.Tx, e handler.Event) error {
				if broken && e.Identity() == sent[0] {
					return errPoison
				}
				return nil
			})
		}
		require.Equal(t, consumer.Summary{Deliveries: 5, Effects: 2, Failed: 3, Dead: 1}, w.run(t, set))
		require.Equal(t, "1+0", w.left(t, w.dead))
		later := w.send(t, "g", "later", `{"order":99}`)
		require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, w.run(t, set))

		broken = false // mended, and brought back by 'consumer dlq redrive'
		copied := w.send(t, "g", "copy", `{"group":"g","order":0}`, "first-message-id", sent[0])
		require.Equal(t, consumer.Summary{Deliveries: 1, Effects: 1}, w.run(t, set))
		require.Equal(t, map[string][]string{"g": {sent[1], sent[2], later, copied}}, w.doers())
		all, err := w.store.Message(t.Context(), sent[0])
		require.NoError(t, err)
		require.Len(t, all, 4)
		require.Equal(t, 4, all[3].Attempt.Number, "the copy's attempts go on from the first message's")
	})
}

// C75: what a handler says can never be carried out is not tried again: no back-off, no
// second call, and soon in the dead-letter queue. Its followers were received once.
func TestPermanentIsPermanent(t *testing.T) {
	t.Parallel()
	inWorld(t, 3, func(t *testing.T, w *world) {
		sent := w.sendMany(t, "g", 3)
		calls := &log{}
		watcher := &watcher{}
		summary := w.run(t, func(cfg *consumer.Config) {
			cfg.Observer, cfg.Backoff = watcher, steadily(5*time.Minute)
			cfg.Handler = outside(func(_ context.Context, e handler.Event) (string, error) {
				calls.add(e.MessageID)
				if e.MessageID == sent[0] {
					return "", &handler.RejectError{Err: errors.New("no such customer")}
				}
				return "", nil
			})
		})
		require.Equal(t, consumer.Summary{Deliveries: 5, Effects: 2, Rejected: 3}, summary)
		require.Equal(t, sent, calls.read(), "once each")
		require.Empty(t, watcher.waits)
		require.Equal(t, sent[:1], w.look(t, w.dead))
		require.Less(t, time.Since(w.began), 10*time.Second)
		require.Contains(t, receiptsOf(t, w.store)[0].Reason, "no such customer")
	})
}

// The same for what no key can be made for. Without a redrive policy it backs off.
func TestRejectedWithoutAPolicyBacksOff(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Backoff = steadily(7 * time.Second)
		b.queue.give(message("m1", "g", "no json"), order("m2", "g", 2))
		_, stop := b.start(t)
		wait(t, time.Second)
		require.Equal(t, []string{"hide hm1:7"}, b.diary.read("hide"))
		stop()
	})
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Backoff, b.cfg.MaxReceives = steadily(7*time.Second), 3
		b.queue.give(message("m1", "g", "no json"), order("m2", "g", 2))
		_, stop := b.start(t)
		wait(t, time.Second)
		require.Equal(t, []string{"hide hm1:0"}, b.diary.read("hide"))
		require.Empty(t, b.diary.read("begin"), "its follower waits until it is dead: this was receive 2 of 3")
		b.queue.give(again(message("m1", "g", "no json"), 3))
		wait(t, 21*time.Second)
		require.Equal(t, []string{"begin m2"}, b.diary.read("begin"))
		stop()
	})
}

// There is a bound to what is held: beyond it, followers are given back with the news
// that their head failed, at the price of one receive.
func TestTooManyAreHeld(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Backoff = steadily(time.Hour)
		b.cfg.Handler = inside(func(_ context.Context, _ receipt.Tx, _ handler.Event) error { return errors.New("no") })
		for g := range 113 {
			var reply []types.Message
			for n := range 10 {
				reply = append(reply, order(fmt.Sprintf("m%d-%d", g, n), fmt.Sprint("g", g), 10*g+n))
			}
			b.queue.give(reply...)
		}
		c, stop := b.start(t)
		wait(t, time.Second)
		require.Equal(t, consumer.Summary{Deliveries: 113 + 2*9, Failed: 113, HeldBack: 18}, c.Summary(), "111 times 9 are held, 999")
		stop()
		require.Equal(t, int64(113*9), c.Summary().HeldBack)
	})
}

// A message that comes more often than the redrive policy allows will not be moved by
// it, perhaps because the dead-letter queue was deleted: it backs off.
func TestPolicyThatIsNotKept(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.cfg.Backoff, b.cfg.MaxReceives = steadily(7*time.Second), 3
		b.cfg.Handler = inside(func(context.Context, receipt.Tx, handler.Event) error { return errors.New("no") })
		b.queue.give(again(order("m1", "g", 1), 4), order("m2", "g", 2), again(message("m3", "h", "no json"), 4))
		_, stop := b.start(t)
		wait(t, time.Second)
		require.ElementsMatch(t, []string{"hide hm1-4:7", "hide hm3-4:7"}, b.diary.read("hide"))
		require.Equal(t, []string{"begin m1"}, b.diary.read("begin"), "m2 is held")
		stop()
	})
}
