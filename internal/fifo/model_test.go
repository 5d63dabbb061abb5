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
	cfg         fifo.Config
	maxReceives int
	messages    []*modelMessage
	opened      map[string]time.Time // by deduplication key
}

type modelMessage struct {
	id, group, dedupID, body string
	from                     string // a dead letter's queue
	earlier                  int    // receives in other queues
	sentAt                   time.Time
	count                    int
	hiddenUntil              time.Time
	receipt                  fifo.Receipt
}

func (m *model) send(now time.Time, group, id string) (duplicate bool) {
	key := id
	if m.cfg.Scope == window.ScopeGroup {
		key = group + "/" + id
	}
	if at, ok := m.opened[key]; ok && now.Sub(at) < window.Length {
		return true
	}
	m.opened[key] = now
	return false
}

// settle drops what has expired.
func (m *model) settle(now time.Time) {
	m.messages = slices.DeleteFunc(m.messages, func(x *modelMessage) bool {
		return now.Sub(x.sentAt) >= m.cfg.Retention
	})
}

func (m *model) drop(x *modelMessage) {
	m.messages = slices.DeleteFunc(m.messages, func(y *modelMessage) bool { return x == y })
}

func (m *model) inFlight(now time.Time, x *modelMessage) bool {
	return x.count > 0 && now.Before(x.hiddenUntil)
}

func (m *model) delayed(now time.Time, x *modelMessage) bool {
	return x.count == 0 && now.Sub(x.sentAt) < m.cfg.Delay
}

// receivable are all messages that may be handed out, in the order of doing so.
func (m *model) receivable(now time.Time) (all []*modelMessage) {
	m.settle(now)
	var order []string // groups by their oldest message
	closed := map[string]bool{}
	byGroup := map[string][]*modelMessage{}
	for _, x := range m.messages {
		if !slices.Contains(order, x.group) {
			order = append(order, x.group)
		}
		closed[x.group] = closed[x.group] || m.inFlight(now, x) || m.delayed(now, x)
		if !closed[x.group] {
			byGroup[x.group] = append(byGroup[x.group], x)
		}
	}
	for _, g := range order {
		all = append(all, byGroup[g]...)
	}
	return all
}

// receive takes messages until it has enough, and the dead ones on the way.
func (m *model) receive(now time.Time, most int) (taken, dead []*modelMessage) {
	for _, x := range m.receivable(now) {
		switch {
		case len(taken) == most:
			return taken, dead
		case m.maxReceives > 0 && x.count >= m.maxReceives:
			dead = append(dead, x)
			m.drop(x)
		default:
			taken = append(taken, x)
		}
	}
	return taken, dead
}

func (m *model) counts(now time.Time) (c fifo.Counts) {
	m.settle(now)
	for _, x := range m.messages {
		switch {
		case m.inFlight(now, x):
			c.InFlight++
		case m.delayed(now, x):
			c.Delayed++
		default:
			c.Visible++
		}
	}
	return c
}

// side is one of two queues that are each other's dead-letter queue.
type side struct {
	name     string
	model    *model
	queue    *fifo.Queue
	receipts []fifo.Receipt // all that were ever handed out
	other    *side
}

func newSide(t *rapid.T, name string) *side {
	cfg := defaults()
	ids := 0
	cfg.NewID = func() string { ids++; return name + fmt.Sprint(ids) }
	cfg.Scope = rapid.SampledFrom([]window.Scope{window.ScopeQueue, window.ScopeGroup}).Draw(t, "scope "+name)
	cfg.Delay = rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Second}).Draw(t, "delay "+name)
	cfg.Retention = rapid.SampledFrom([]time.Duration{time.Minute, 10 * time.Minute}).Draw(t, "retention "+name)
	if rapid.Bool().Draw(t, "notebook "+name) {
		cfg.Variant.Memory.Length = window.Length // the memory of variants, doing right
	}
	return &side{name: name, queue: fifo.New(cfg), model: &model{
		cfg: cfg, opened: map[string]time.Time{},
		maxReceives: rapid.IntRange(0, 3).Draw(t, "receives "+name),
	}}
}

// find is the message that r holds now.
func (s *side) find(now time.Time, r fifo.Receipt) *modelMessage {
	s.model.settle(now)
	for _, x := range s.model.messages {
		if x.receipt == r && s.model.inFlight(now, x) {
			return x
		}
	}
	return nil
}

func (s *side) known(r fifo.Receipt) bool {
	return slices.ContainsFunc(s.model.messages, func(x *modelMessage) bool { return x.receipt.Order == r.Order })
}

// drawReceipt draws one of the latest receipts mostly, so that deletes do happen.
func (s *side) drawReceipt(t *rapid.T) fifo.Receipt {
	if len(s.receipts) == 0 {
		t.Skip("nothing received yet")
	}
	back := rapid.IntRange(0, min(len(s.receipts)-1, 12)).Draw(t, "back")
	return s.receipts[len(s.receipts)-1-back]
}

// bury moves a dead letter of s to the other side, in the model and in the queue.
func (s *side) bury(t *rapid.T, now time.Time, want *modelMessage, dead fifo.DeadLetter) {
	require.Equal(t, want.id, dead.MessageID)
	require.Equal(t, want.dedupID, dead.DedupID)
	require.Equal(t, want.body, dead.Body)
	require.Equal(t, want.from, dead.From)
	require.Equal(t, want.earlier+want.count, dead.Count)
	s.other.queue.Bury(now, dead, s.name)
	s.other.model.settle(now)
	s.other.model.messages = append(s.other.model.messages, &modelMessage{
		id: want.id, group: want.group, dedupID: want.id, body: want.body,
		from: s.name, earlier: want.earlier + want.count, sentAt: now,
	})
}

func TestQueueAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := start
		a, b := newSide(t, "a"), newSide(t, "b")
		a.other, b.other = b, a
		sends := 0
		draw := func(t *rapid.T) (*side, *model) {
			s := rapid.SampledFrom([]*side{a, a, a, b}).Draw(t, "side")
			return s, s.model
		}

		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				s, m := draw(t)
				group := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group")
				id := rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}).Draw(t, "id")
				body := fmt.Sprint(sends)
				sends++
				sent, err := s.queue.Send(now, fifo.Letter{Group: group, DedupID: id, Body: body})
				require.NoError(t, err)
				duplicate := m.send(now, group, id)
				require.Equal(t, duplicate, sent.Duplicate)
				if !duplicate {
					m.messages = append(m.messages, &modelMessage{
						id: sent.MessageID, group: group, dedupID: id, body: body, sentAt: now,
					})
				}
			},
			"receive": func(t *rapid.T) {
				s, m := draw(t)
				most := rapid.IntRange(1, 10).Draw(t, "most")
				visibility := time.Duration(rapid.IntRange(0, 40).Draw(t, "visibility")) * time.Second
				require.Equal(t, len(m.receivable(now)) > 0, s.queue.Ready(now))
				got, dead, err := s.queue.Receive(now, fifo.Ask{Max: most, Visibility: visibility, MaxReceives: m.maxReceives})
				require.NoError(t, err)
				want, wantDead := m.receive(now, most)
				require.Len(t, got, len(want))
				for i, x := range want {
					x.count++
					x.hiddenUntil = now.Add(visibility)
					x.receipt = got[i].Receipt
					s.receipts = append(s.receipts, got[i].Receipt)
					require.Equal(t, x.id, got[i].MessageID)
					require.Equal(t, x.dedupID, got[i].DedupID)
					require.Equal(t, x.body, got[i].Body)
					require.Equal(t, x.group, got[i].Group)
					require.Equal(t, x.from, got[i].From)
					require.Equal(t, x.sentAt, got[i].SentAt)
					require.Equal(t, x.earlier+x.count, got[i].Count)
				}
				require.Len(t, dead, len(wantDead))
				for i, x := range wantDead {
					s.bury(t, now, x, dead[i])
				}
			},
			"withdraw": func(t *rapid.T) {
				s, m := draw(t)
				newest := s.queue.Newest()
				first := m.receivable(now)
				letter, ok := s.queue.Withdraw(now, newest)
				require.Equal(t, len(first) > 0, ok)
				if ok {
					m.drop(first[0])
					s.bury(t, now, first[0], letter)
				}
				require.Equal(t, len(m.messages) > 0, s.queue.Holds(now, newest))
			},
			"delete": func(t *rapid.T) {
				s, m := draw(t)
				r := s.drawReceipt(t)
				x := s.find(now, r)
				err := s.queue.Delete(now, r)
				switch {
				case x != nil:
					require.NoError(t, err)
					m.drop(x)
				case s.known(r):
					require.ErrorIs(t, err, fifo.ErrReceiptExpired)
				default:
					require.NoError(t, err)
				}
			},
			"change visibility": func(t *rapid.T) {
				s, _ := draw(t)
				r := s.drawReceipt(t)
				d := time.Duration(rapid.IntRange(0, 40).Draw(t, "to")) * time.Second
				x := s.find(now, r)
				err := s.queue.ChangeVisibility(now, r, d)
				if x == nil {
					require.ErrorIs(t, err, fifo.ErrNotAvailable)
					return
				}
				require.NoError(t, err)
				x.hiddenUntil = now.Add(d)
			},
			"set delay": func(t *rapid.T) {
				s, m := draw(t)
				m.settle(now)
				m.cfg.Delay = time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second
				s.queue.Set(now, m.cfg.Settings)
			},
			"pass time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 60_000).Draw(t, "ms")) * time.Millisecond)
			},
			"pass to the next event": func(t *rapid.T) {
				s, m := draw(t)
				at, ok := s.queue.NextEvent(now)
				m.settle(now)
				require.Equal(t, len(m.messages) > 0, ok)
				if ok {
					require.True(t, at.After(now))
					before := m.receivable(now)
					now = at.Add(-1)
					require.Equal(t, before, m.receivable(now), "nothing may come up before the next event")
					now = at
				}
			},
			"": func(t *rapid.T) {
				for _, s := range []*side{a, b} {
					require.Equal(t, s.model.counts(now), s.queue.Counts(now))
				}
			},
		})
	})
}
