package receipttest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/receipt"
)

// property makes random steps with two workers, and holds the store against a model
// that knows nothing of how it works: who has a key, until when, and what was done.
func property(t *testing.T, b *bench) {
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		m := &model{
			bench: b, round: round, keys: map[string]*modelKey{}, seen: map[string]bool{}, attempts: map[string]int{},
			policy: rapid.SampledFrom([]receipt.Policy{receipt.Skip, receipt.Run, receipt.Refuse}).Draw(t, "policy"),
		}
		t.Repeat(map[string]func(*rapid.T){
			"deliver":  m.deliver,
			"complete": m.complete,
			"release":  m.release,
			"renew":    m.renew,
			"time":     m.time,
		})
		for name, key := range m.keys {
			require.LessOrEqual(t, key.effects, 1, name)
		}
	})
}

type model struct {
	bench    *bench
	round    int // keys and messages are a round's own
	policy   receipt.Policy
	keys     map[string]*modelKey // by name; under run also by name and message
	seen     map[string]bool      // messages that were done with, by key and message
	attempts map[string]int       // by message
	workers  [2]*modelClaim
}

type modelKey struct {
	holder  *modelClaim // nil: nobody
	until   time.Time
	doneBy  string // the message
	effects int
}

type modelClaim struct {
	claim   receipt.Claim
	key     *modelKey
	message string
}

func (m *model) deliver(t *rapid.T) {
	b := m.bench
	worker := rapid.IntRange(0, 1).Draw(t, "worker")
	key := fmt.Sprintf("k%d-%d", m.round, rapid.IntRange(0, 1).Draw(t, "key"))
	message := fmt.Sprintf("%s-m%d", key, rapid.IntRange(0, 2).Draw(t, "message"))
	b.n++
	terms := receipt.Terms{Worker: fmt.Sprintf("w%d", worker), Lease: hour, Repeated: m.policy, Now: b.now}
	decision := b.begin(t, delivery(b.n, message, key), terms)

	kind, claimed, tookOver := m.expect(key, message)
	require.Equal(t, kind, decision.Kind, "%s %s", message, decision.Reason)
	require.Equal(t, tookOver, decision.TookOver)
	switch kind {
	case receipt.Fresh:
		m.attempts[message]++
		require.Equal(t, m.attempts[message], decision.Claim.Attempt)
		c := &modelClaim{claim: decision.Claim, key: claimed, message: message}
		claimed.holder, claimed.until = c, b.now.Add(hour)
		m.workers[worker] = c // it forgets what it had: a crash
	case receipt.Redelivered, receipt.Repeated:
		m.seen[message] = true
	default:
	}
}

// expect says what a delivery has to be, and of which key.
func (m *model) expect(name, message string) (kind receipt.Kind, key *modelKey, tookOver bool) {
	key, ok := m.keys[name]
	if !ok {
		key = &modelKey{}
		m.keys[name] = key
	}
	if own, ok := m.keys[name+"/"+message]; ok {
		key = own
	} else if m.policy == receipt.Run && !m.seen[message] && m.another(key, message) {
		key = &modelKey{}
		m.keys[name+"/"+message] = key
	}
	switch {
	case key.doneBy == message || key.doneBy != "" && m.seen[message]:
		return receipt.Redelivered, key, false
	case key.doneBy != "" && m.policy == receipt.Refuse:
		return receipt.Rejected, key, false
	case key.doneBy != "":
		return receipt.Repeated, key, false
	case key.holder != nil && m.bench.now.Before(key.until):
		return receipt.Pending, key, false
	default:
		return receipt.Fresh, key, key.holder != nil
	}
}

// another reports whether another message has, or had, the key's effect.
func (m *model) another(key *modelKey, message string) bool {
	if key.doneBy != "" {
		return key.doneBy != message
	}
	return key.holder != nil && m.bench.now.Before(key.until) && key.holder.message != message
}

func (m *model) holder(t *rapid.T) (*modelClaim, int) {
	worker := rapid.IntRange(0, 1).Draw(t, "worker")
	if m.workers[worker] == nil {
		t.Skip("it has no claim")
	}
	return m.workers[worker], worker
}

func (m *model) complete(t *rapid.T) {
	c, worker := m.holder(t)
	ran := false
	err := m.bench.store.Complete(context.Background(), c.claim, m.bench.now, "", spy(&ran))
	if c.key.holder != c {
		require.ErrorIs(t, err, receipt.ErrLost)
		require.False(t, ran)
	} else {
		require.NoError(t, err)
		require.True(t, ran)
		c.key.holder, c.key.doneBy, m.seen[c.message] = nil, c.message, true
		c.key.effects++
	}
	m.workers[worker] = nil
}

func (m *model) release(t *rapid.T) {
	c, worker := m.holder(t)
	kind := rapid.SampledFrom([]receipt.Kind{receipt.Failed, receipt.Rejected, receipt.Pending}).Draw(t, "kind")
	err := m.bench.store.Release(context.Background(), c.claim, receipt.Ending{Kind: kind, Reason: "so", At: m.bench.now})
	if c.key.holder != c {
		require.ErrorIs(t, err, receipt.ErrLost)
	} else {
		require.NoError(t, err)
		c.key.holder = nil
		if kind == receipt.Pending && m.attempts[c.message] == c.claim.Attempt {
			m.attempts[c.message]--
		}
	}
	m.workers[worker] = nil
}

func (m *model) renew(t *rapid.T) {
	c, _ := m.holder(t)
	err := m.bench.store.Renew(context.Background(), c.claim, m.bench.now, hour)
	if c.key.holder != c {
		require.ErrorIs(t, err, receipt.ErrLost)
		return
	}
	require.NoError(t, err)
	c.key.until = m.bench.now.Add(hour)
}

func (m *model) time(t *rapid.T) {
	minutes := rapid.IntRange(1, 3).Draw(t, "twenty minutes")
	m.bench.pass(t, time.Duration(minutes)*20*time.Minute+time.Minute)
}
