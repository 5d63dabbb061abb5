package consumer

import (
	"maps"
	"sync"
)

// remembered is how many messages of a sort a consumer remembers. Forgetting costs
// another call of a handler, or a word less at the end.
const remembered = 10_000

// memory is what a consumer knows of messages that it has no longer in hand.
type memory struct {
	mu       sync.Mutex
	rejected map[string]error // by MessageId: why no handler need see it again
	failed   map[string]error // by MessageId: why it was not carried out last time
}

func newMemory() memory {
	return memory{rejected: map[string]error{}, failed: map[string]error{}}
}

// reject remembers why a message was rejected, and reports whether that is news.
func (m *memory) reject(id string, why error) (news bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failed, id)
	return note(m.rejected, id, why)
}

// fail remembers why a message was not carried out, and reports whether it is the
// first time.
func (m *memory) fail(id string, why error) (news bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return note(m.failed, id, why)
}

// forget is told of a message that is done with.
func (m *memory) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failed, id)
	delete(m.rejected, id)
}

// refused is why a message was rejected before; nil where it was not.
func (m *memory) refused(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rejected[id]
}

// unfinished are the messages that failed last time, with why.
func (m *memory) unfinished() map[string]error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.failed)
}

func note(in map[string]error, id string, why error) (news bool) {
	_, known := in[id]
	if !known && len(in) >= remembered {
		clear(in)
	}
	in[id] = why
	return !known
}
