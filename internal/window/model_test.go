package window_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fifoproof/internal/window"
)

// model is the rule written down as plainly as possible.
type model struct {
	scope  window.Scope
	latest time.Duration
	opened map[[2]string]opening
}

type opening struct {
	at    time.Duration
	value int
}

func newModel(scope window.Scope) *model {
	return &model{scope: scope, opened: map[[2]string]opening{}}
}

func (m *model) key(group, id string) [2]string {
	if m.scope == window.ScopeQueue {
		return [2]string{"", id}
	}
	return [2]string{group, id}
}

func (m *model) expire(at time.Duration) {
	m.latest = max(m.latest, at)
	for key, o := range m.opened {
		if m.latest-o.at >= window.Length {
			delete(m.opened, key)
		}
	}
}

func (m *model) decide(at time.Duration, group, id string, value int) (int, bool) {
	m.expire(at)
	key := m.key(group, id)
	if o, found := m.opened[key]; found {
		return o.value, true
	}
	m.opened[key] = opening{m.latest, value}
	return value, false
}

// script runs a table and the model side by side. Steps: what < 200 sends, the
// rest forgets or expires; group and id are small numbers so that they recur.
type script struct {
	table *window.Table[int]
	model *model
	at    time.Duration
	n     int
}

func newScript(scope window.Scope) *script {
	return &script{table: window.NewTable[int](scope, window.Length), model: newModel(scope)}
}

func (s *script) step(t require.TestingT, what uint8, advance time.Duration, group uint8, id uint16) {
	s.at = max(s.at+advance, 0)
	s.n++
	now := start.Add(s.at)
	g, i := fmt.Sprintf("g%d", group), fmt.Sprintf("id%d", id)
	switch {
	case what < 200:
		wantFirst, wantDuplicate := s.model.decide(s.at, g, i, s.n)
		first, duplicate := s.table.Decide(now, g, i, s.n)
		require.Equal(t, wantDuplicate, duplicate, "step %d", s.n)
		require.Equal(t, wantFirst, first, "step %d", s.n)
	case what < 230:
		delete(s.model.opened, s.model.key(g, i))
		s.table.Forget(g, i)
	default:
		s.model.expire(s.at)
		s.table.Expire(now)
	}
	require.Len(t, s.model.opened, s.table.Len(), "step %d", s.n)
}

func scopes() []window.Scope { return []window.Scope{window.ScopeQueue, window.ScopeGroup} }

func TestTableAgreesWithModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newScript(rapid.SampledFrom(scopes()).Draw(t, "scope"))
		ids := rapid.Uint16Range(1, 600).Draw(t, "ids")
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			advance := rapid.OneOf(
				rapid.Just(time.Duration(0)),
				rapid.Map(rapid.Int64Range(0, 2), func(n int64) time.Duration { return time.Duration(n) * time.Second }),
				rapid.Map(rapid.Int64Range(-2, 2), func(n int64) time.Duration { return window.Length + time.Duration(n) }),
				rapid.Map(rapid.Int64Range(-400, 400), func(n int64) time.Duration { return time.Duration(n) * time.Second }),
			).Draw(t, "advance")
			s.step(t, rapid.Uint8().Draw(t, "what"), advance,
				rapid.Uint8Range(0, 3).Draw(t, "group"), rapid.Uint16Range(0, ids).Draw(t, "id"))
		}
	})
}

// Many live ids, so that chunks come and go and the index grows and shrinks.
func TestTableAgreesWithModelAtLength(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes() {
		d := rand.New(rand.NewPCG(2, 5*60))
		s := newScript(scope)
		most := 0
		for range 4_000 {
			advance := time.Duration(d.Int64N(int64(500 * time.Millisecond)))
			switch d.IntN(1000) {
			case 0:
				advance = time.Duration(d.Int64N(int64(window.Length)))
			case 1:
				advance = window.Length
			}
			s.step(t, uint8(d.UintN(256)), advance, uint8(d.UintN(2)), uint16(d.UintN(5000)))
			most = max(most, s.table.Len())
		}
		require.Greater(t, most, 600)
	}
}

// FuzzTable reads five bytes a step: what, time in units of 1/64 of the interval
// (signed), nanoseconds (signed), group, id.
func FuzzTable(f *testing.F) {
	f.Add(false, []byte{0, 0, 0, 1, 1, 0, 64, 0xff, 1, 1, 0, 0, 1, 2, 1})
	f.Add(true, []byte{0, 0, 0, 1, 1, 0, 0, 0, 2, 1, 0, 0, 0, 1, 1, 210, 0, 0, 1, 1, 255, 127, 0, 0, 0})
	f.Fuzz(func(t *testing.T, group bool, steps []byte) {
		scope := window.ScopeQueue
		if group {
			scope = window.ScopeGroup
		}
		s := newScript(scope)
		for ; len(steps) >= 5; steps = steps[5:] {
			advance := time.Duration(int8(steps[1]))*window.Length/64 + time.Duration(int8(steps[2]))
			s.step(t, steps[0], advance, steps[3]%4, uint16(steps[4]))
		}
	})
}
