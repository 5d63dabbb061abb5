package fifo

import (
	"time"

	"fifoproof/internal/window"
)

// Variant replaces single decisions of a queue. It exists to prove that a test
// suite sees a wrong queue; the zero value is the right one. Each field stands for
// one decision, so that a new fault is a new value here and not a new branch in
// the queue.
type Variant struct {
	// Memory makes what remembers deduplication ids.
	// Right: window.NewTable with the queue's scope and window.Length.
	Memory func(scope window.Scope) Memory

	// OnDelete is told of every deleted message. Right: nil, a delete does not
	// touch the memory.
	OnDelete func(memory Memory, group, id string)

	// EnqueueDuplicates enqueues a recognised duplicate as a further delivery
	// under the MessageId and SequenceNumber of the first copy. Right: false.
	EnqueueDuplicates bool
}

// Memory decides which send is a duplicate, and of what.
type Memory interface {
	Decide(now time.Time, group, id string, fresh Sent) (first Sent, duplicate bool)
}

func (v Variant) memory(scope window.Scope) Memory {
	if v.Memory != nil {
		return v.Memory(scope)
	}
	return window.NewTable[Sent](scope, window.Length)
}

// WindowSlides is a queue on which every duplicate begins the window anew.
func WindowSlides() Variant {
	return Variant{Memory: func(scope window.Scope) Memory {
		return &notebook{scope: scope, slides: true, entries: map[entryKey]entry{}}
	}}
}

// ForgetsOnDelete is a queue that forgets an id with the message that bore it.
func ForgetsOnDelete() Variant {
	return Variant{
		Memory: func(scope window.Scope) Memory {
			return &notebook{scope: scope, entries: map[entryKey]entry{}}
		},
		OnDelete: func(memory Memory, group, id string) {
			if n, ok := memory.(*notebook); ok {
				delete(n.entries, n.key(group, id))
			}
		},
	}
}

// ScopeIgnored is a queue that looks ids up in the whole queue whatever its
// deduplication scope says.
func ScopeIgnored() Variant {
	return Variant{Memory: func(window.Scope) Memory {
		return window.NewTable[Sent](window.ScopeQueue, window.Length)
	}}
}

// DuplicateEnqueued is a queue that answers a duplicate as it should and delivers
// it all the same.
func DuplicateEnqueued() Variant { return Variant{EnqueueDuplicates: true} }

// notebook is a memory that can be made to misbehave, which window.Table rightly
// cannot.
type notebook struct {
	scope   window.Scope
	slides  bool
	entries map[entryKey]entry
	sweepAt int // number of entries at which dead ones are looked for
}

type entryKey struct{ group, id string }

type entry struct {
	first Sent
	at    time.Time
}

func (n *notebook) key(group, id string) entryKey {
	if n.scope == window.ScopeQueue {
		group = ""
	}
	return entryKey{group, id}
}

func (n *notebook) Decide(now time.Time, group, id string, fresh Sent) (Sent, bool) {
	key := n.key(group, id)
	if e, known := n.entries[key]; known && now.Sub(e.at) < window.Length {
		if n.slides {
			n.entries[key] = entry{e.first, now}
		}
		return e.first, true
	}
	n.entries[key] = entry{fresh, now}
	if len(n.entries) > n.sweepAt {
		for k, e := range n.entries {
			if now.Sub(e.at) >= window.Length {
				delete(n.entries, k)
			}
		}
		n.sweepAt = 2*len(n.entries) + 1024
	}
	return fresh, false
}
