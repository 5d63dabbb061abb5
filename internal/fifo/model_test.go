package fifo_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/fifo"
	"fifoproof/internal/window"
)

// model is a queue written as plainly as the rules are said: a list that every
// call goes through from the front.
type model struct {
	cfg      fifo.Config
	now      time.Time
	messages []*modelMessage
	opened   map[string]time.Time // by deduplication key
}

type modelMessage struct {
	group, body string
	sentAt      time.Time
	count       int
	hiddenUntil time.Time
	receipt     fifo.Receipt
}

func (m *model) send(group, id, body string) (duplicate bool) {
	key := id
	if m.cfg.Scope == window.ScopeGroup {
		key = group + "/" + id
	}
	if at, ok := m.opened[key]; ok && m.now.Sub(at) < window.Length {
		return true
	}
	m.opened[key] = m.now
	m.messages = append(m.messages, &modelMessage{group: group, body: body, sentAt: m.now})
	return false
}

// settle drops what has expired.
func (m *model) settle() {
	m.messages = slices.DeleteFunc(m.messages, func(x *modelMessage) bool {
		return m.now.Sub(x.sentAt) >= m.cfg.Retention
	})
}

func (m *model) inFlight(x *modelMessage) bool { return x.count > 0 && m.now.Before(x.hiddenUntil) }

func (m *model) delayed(x *modelMessage) bool {
	return x.count == 0 && m.now.Sub(x.sentAt) < m.cfg.Delay
}

func (m *model) receive(most int) (taken []*modelMessage) {
	m.settle()
	var order []string // groups by their oldest message
	closed := map[string]bool{}
	byGroup := map[string][]*modelMessage{}
	for _, x := range m.messages {
		if !slices.Contains(order, x.group) {
			order = append(order, x.group)
		}
		closed[x.group] = closed[x.group] || m.inFlight(x) || m.delayed(x)
		if !closed[x.group] {
			byGroup[x.group] = append(byGroup[x.group], x)
		}
	}
	for _, g := range order {
		for _, x := range byGroup[g] {
			if len(taken) < most {
				taken = append(taken, x)
			}
		}
	}
	return taken
}

func (m *model) counts() (c fifo.Counts) {
	m.settle()
	for _, x := range m.messages {
		switch {
		case m.inFlight(x):
			c.InFlight++
		case m.delayed(x):
			c.Delayed++
		default:
			c.Visible++
		}
	}
	return c
}

func TestQueueAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := defaults()
		cfg.Scope = rapid.SampledFrom([]window.Scope{window.ScopeQueue, window.ScopeGroup}).Draw(t, "scope")
		cfg.Delay = rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Second}).Draw(t, "delay")
		cfg.Retention = rapid.SampledFrom([]time.Duration{time.Minute, 10 * time.Minute}).Draw(t, "retention")
		queue := fifo.New(cfg)
		m := &model{cfg: cfg, now: start, opened: map[string]time.Time{}}
		sends := 0
		var receipts []fifo.Receipt // all that were ever handed out

		find := func(r fifo.Receipt) *modelMessage {
			m.settle()
			for _, x := range m.messages {
				if x.receipt == r && m.inFlight(x) {
					return x
				}
			}
			return nil
		}
		known := func(r fifo.Receipt) bool {
			return slices.ContainsFunc(m.messages, func(x *modelMessage) bool { return x.receipt.Order == r.Order })
		}
		drawReceipt := func(t *rapid.T) fifo.Receipt {
			if len(receipts) == 0 {
				t.Skip("nothing received yet")
			}
			// The latest ones mostly, so that deletes do happen.
			back := rapid.IntRange(0, min(len(receipts)-1, 12)).Draw(t, "back")
			return receipts[len(receipts)-1-back]
		}

		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				group := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group")
				id := rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}).Draw(t, "id")
				body := fmt.Sprint(sends)
				sends++
				sent, err := queue.Send(m.now, fifo.Letter{Group: group, DedupID: id, Body: body})
				require.NoError(t, err)
				require.Equal(t, m.send(group, id, body), sent.Duplicate)
			},
			"receive": func(t *rapid.T) {
				most := rapid.IntRange(1, 10).Draw(t, "most")
				visibility := time.Duration(rapid.IntRange(0, 40).Draw(t, "visibility")) * time.Second
				got, err := queue.Receive(m.now, fifo.Ask{Max: most, Visibility: visibility})
				require.NoError(t, err)
				want := m.receive(most)
				require.Len(t, got, len(want))
				for i, x := range want {
					x.count++
					x.hiddenUntil = m.now.Add(visibility)
					x.receipt = got[i].Receipt
					receipts = append(receipts, got[i].Receipt)
					require.Equal(t, x.body, got[i].Body)
					require.Equal(t, x.group, got[i].Group)
					require.Equal(t, x.count, got[i].Count)
				}
			},
			"delete": func(t *rapid.T) {
				r := drawReceipt(t)
				x := find(r)
				err := queue.Delete(m.now, r)
				switch {
				case x != nil:
					require.NoError(t, err)
					m.messages = slices.DeleteFunc(m.messages, func(y *modelMessage) bool { return x == y })
				case known(r):
					require.ErrorIs(t, err, fifo.ErrReceiptExpired)
				default:
					require.NoError(t, err)
				}
			},
			"change visibility": func(t *rapid.T) {
				r := drawReceipt(t)
				d := time.Duration(rapid.IntRange(0, 40).Draw(t, "to")) * time.Second
				x := find(r)
				err := queue.ChangeVisibility(m.now, r, d)
				if x == nil {
					require.ErrorIs(t, err, fifo.ErrNotAvailable)
					return
				}
				require.NoError(t, err)
				x.hiddenUntil = m.now.Add(d)
			},
			"set delay": func(t *rapid.T) {
				m.settle()
				m.cfg.Delay = time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second
				queue.Set(m.now, m.cfg.Settings)
			},
			"pass time": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(0, 60_000).Draw(t, "ms")) * time.Millisecond)
			},
			"pass to the next event": func(t *rapid.T) {
				at, ok := queue.NextEvent(m.now)
				m.settle()
				require.Equal(t, len(m.messages) > 0, ok)
				if ok {
					require.True(t, at.After(m.now))
					before := m.receive(10)
					m.now = at.Add(-1)
					require.Equal(t, before, m.receive(10), "nothing may come up before the next event")
					m.now = at
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, m.counts(), queue.Counts(m.now))
			},
		})
	})
}
