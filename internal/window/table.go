package window

import (
	"crypto/sha256"
	"encoding/binary"
	"sort"
	"time"
)

// Table remembers the ids whose interval is open, each with a value of the caller's
// choice (for a queue: MessageId and SequenceNumber of the first message).
//
// It holds live ids only. Every call first drops what has expired, from the oldest
// on, which is O(1) amortised; memory is given back as the ids go. With a V of
// 24 bytes an id of a large table costs 75 to 86 bytes while it fills, and up to 97
// while it empties. A single call can take long: one that drops very many ids but
// not all does that work itself, and one that doubles the index copies it (tens of
// milliseconds for a million ids; the benchmarks have the figures).
//
// A Table is not safe for concurrent use; it belongs to the lock that guards its
// queue. The limit is 2^30 live ids.
type Table[V any] struct {
	scope  Scope
	length time.Duration
	base   time.Time // entries count from here
	latest time.Time // latest time seen
	seen   bool      // latest is set
	sends  ring[V]
	index  index
}

// NewTable returns an empty table. With a length of zero or less no send is ever
// a duplicate.
func NewTable[V any](scope Scope, length time.Duration) *Table[V] {
	return &Table[V]{scope: scope, length: length}
}

// Decide accepts a send at now. If the id's interval is open the send is a
// duplicate and Decide returns the value that the opening send left there; the
// interval stays as it is. Otherwise the send opens an interval with the value
// fresh, which is returned.
//
// Time never runs backwards here: a now before the latest one seen counts as that
// one, so that setting a clock back neither revives an id nor prolongs it. All
// times must come from one clock.
func (t *Table[V]) Decide(now time.Time, group, id string, fresh V) (first V, duplicate bool) {
	t.Expire(now)
	key := t.key(group, id)
	if number, found := t.find(key); found {
		return t.sends.at(number).first, true
	}
	if t.sends.n == 0 {
		t.base = t.latest // keeps opened small, however long the table lives
	}
	t.index.insert(key.part(), t.sends.next())
	t.sends.push(entry[V]{opened: t.latest.Sub(t.base), key: key, first: fresh})
	return fresh, false
}

// Expire drops the ids whose interval has ended by now, and their memory. A table
// that nobody calls keeps what it has, since nothing here runs by itself.
func (t *Table[V]) Expire(now time.Time) {
	if !t.seen || now.After(t.latest) {
		t.latest, t.seen = now, true
	}
	if t.sends.n == 0 {
		return
	}
	gone := t.expired()
	switch {
	case gone == 0:
		return
	case gone == t.sends.n:
		t.index = index{}
	case gone > t.sends.n/32: // a pass over the index, which is in order, is cheaper now
		t.index.retain(t.sends.head+uint32(gone), t.sends.n-gone)
	default:
		for i := range uint32(gone) {
			number := t.sends.head + i
			t.index.remove(t.sends.at(number).key.part(), number) // absent if forgotten
		}
		t.index.shrink()
	}
	t.sends.drop(gone)
}

// expired counts the entries whose interval has ended. It looks at few, since
// mostly there is none or one.
func (t *Table[V]) expired() int {
	elapsed := t.latest.Sub(t.base)
	live := func(i int) bool { return elapsed-t.sends.at(t.sends.head+uint32(i)).opened < t.length }
	if live(0) {
		return 0
	}
	bound := 1
	for bound < t.sends.n && !live(bound) {
		bound *= 2
	}
	return sort.Search(min(bound, t.sends.n), live)
}

// Len returns the number of ids whose interval was open at the latest time seen.
func (t *Table[V]) Len() int { return t.index.live }

// Forget ends the interval of an id, if it has one. No queue does that: it exists
// for the emulator's planted faults, which must forget an id on delete, or forget
// it and open it anew on every duplicate. The memory of the entry goes when its
// time is over.
func (t *Table[V]) Forget(group, id string) {
	key := t.key(group, id)
	if number, found := t.find(key); found {
		t.index.remove(key.part(), number)
		t.index.shrink()
	}
}

func (t *Table[V]) find(key digest) (number uint32, found bool) {
	if t.index.live == 0 {
		return 0, false
	}
	want := slotOf(key.part(), 0)
	for at := t.index.home(want); ; at = t.index.after(at) {
		slot := t.index.slots[at]
		if slot == 0 {
			return 0, false
		}
		if slot>>32 == want>>32 && t.sends.at(uint32(slot)).key == key {
			return uint32(slot), true
		}
	}
}

// digest stands for a message group and an id. It is taken for the id itself,
// without keeping the id: two ids that share a SHA-256 digest are not known to
// exist and nobody can make a pair, hostile senders included, and SQS itself takes
// equal SHA-256 digests for equal content (content-based deduplication). It makes
// every id cost the same, be it 1 or 128 characters.
type digest [sha256.Size]byte

// part is what the index keeps of a digest.
func (d *digest) part() uint32 { return binary.LittleEndian.Uint32(d[:]) }

// key is the digest of the group's length, the group and the id: with its length in
// front a group cannot run into the id, so ("a:b", "c") and ("a", "b:c") differ.
func (t *Table[V]) key(group, id string) digest {
	if t.scope == ScopeQueue {
		group = ""
	}
	// Both are at most 128 characters in SQS; longer ones only cost an allocation.
	var array [binary.MaxVarintLen64 + 2*128]byte
	text := binary.AppendUvarint(array[:0], uint64(len(group)))
	text = append(text, group...)
	text = append(text, id...)
	return sha256.Sum256(text)
}
