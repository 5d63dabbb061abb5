package fifo

import (
	"strconv"
	"time"

	"fifoproof/internal/window"
)

// MemoryVariant replaces single decisions about deduplication ids. The zero value is
// right: window.Table with the queue's scope and window.Length.
type MemoryVariant struct {
	Length      time.Duration // of the window, if not window.Length
	Slides      bool          // a duplicate begins the window anew
	FromReceive bool          // the window begins when the message is first received
	SweepEvery  time.Duration // an id dies only at a full multiple of it

	ID           func(id string) string                            // what is compared of an id
	Key          func(scope window.Scope, group, id string) string // what is looked up
	OneGroupAnID bool                                              // with scope messageGroup: only the last group of an id is known
	SecondGroup  bool                                              // an id that is used in a second group is forgotten in the first

	Never            bool // no send is ever a duplicate
	BatchUnchecked   bool // an entry of a batch is never a duplicate
	BatchChecksBatch bool // an entry of a batch is compared with those of its batch only
	OverlapPasses    bool // a send that came in while another of its id was carried out is no duplicate

	KeepsAtMost  int  // ids; the oldest is forgotten
	LearnsAtMost int  // ids; a further one is not remembered
	EveryNth     int  // duplicate passes
	AfterResends int  // of an id it is forgotten
	Swallows     bool // the first send after the window is lost
}

func (v *MemoryVariant) right() bool {
	return v.Length == 0 && !v.Slides && !v.FromReceive && v.SweepEvery == 0 &&
		v.ID == nil && v.Key == nil && !v.OneGroupAnID && !v.SecondGroup &&
		!v.Never && !v.BatchUnchecked && !v.BatchChecksBatch && !v.OverlapPasses &&
		v.KeepsAtMost == 0 && v.LearnsAtMost == 0 && v.EveryNth == 0 && v.AfterResends == 0 && !v.Swallows
}

// notebook is a memory that can be made to misbehave, which window.Table rightly
// cannot.
type notebook struct {
	MemoryVariant
	scope      window.Scope
	entries    map[string]*entry
	opened     []opening         // for KeepsAtMost, in order
	lastGroup  map[string]string // of an id, for SecondGroup
	batch      uint32            // the last one
	inBatch    map[string]Sent   // its ids, for BatchChecksBatch
	duplicates int
	sweepAt    int // number of entries at which dead ones are looked for
}

type entry struct {
	first   Sent
	group   string
	at      time.Time
	pending bool // the window has not begun yet
	resends int
}

type opening struct {
	key   string
	entry *entry
}

func newNotebook(v MemoryVariant, scope window.Scope) *notebook {
	if v.Length == 0 {
		v.Length = window.Length
	}
	n := &notebook{MemoryVariant: v, scope: scope}
	n.clear()
	return n
}

func (n *notebook) clear() {
	n.entries, n.lastGroup, n.opened = map[string]*entry{}, map[string]string{}, nil
}

func (n *notebook) key(group, id string) string {
	if n.ID != nil {
		id = n.ID(id)
	}
	switch {
	case n.Key != nil:
		return n.Key(n.scope, group, id)
	case n.scope == window.ScopeQueue || n.OneGroupAnID:
		return id
	}
	return strconv.Itoa(len(group)) + ":" + group + id
}

func (n *notebook) Decide(now time.Time, letter *Letter, fresh Sent) (Sent, bool) {
	key := n.key(letter.Group, letter.DedupID)
	if n.SecondGroup {
		defer n.noteGroup(letter)
	}
	e := n.entries[key]
	known := e != nil && n.alive(e, now)
	if n.OneGroupAnID && n.scope == window.ScopeGroup && known && e.group != letter.Group {
		known = false
	}
	switch {
	case n.passes(letter), known && n.BatchUnchecked && letter.Aside.Batch != 0:
		return fresh, false
	case n.BatchChecksBatch && letter.Aside.Batch != 0:
		return n.decideInBatch(now, key, letter, fresh)
	case known:
		return n.resend(now, key, e, letter, fresh)
	}
	n.open(now, key, letter, fresh)
	return fresh, n.Swallows && e != nil
}

func (n *notebook) passes(letter *Letter) bool {
	return n.Never || n.OverlapPasses && letter.Aside.Overlaps
}

func (n *notebook) decideInBatch(now time.Time, key string, letter *Letter, fresh Sent) (Sent, bool) {
	if n.batch != letter.Aside.Batch {
		n.batch, n.inBatch = letter.Aside.Batch, map[string]Sent{}
	}
	if first, again := n.inBatch[key]; again {
		return first, true
	}
	n.inBatch[key] = fresh
	n.open(now, key, letter, fresh)
	return fresh, false
}

// resend decides about a send that is a duplicate by rights.
func (n *notebook) resend(now time.Time, key string, e *entry, letter *Letter, fresh Sent) (Sent, bool) {
	n.duplicates++
	e.resends++
	switch {
	case n.EveryNth > 0 && n.duplicates%n.EveryNth == 0:
		return fresh, false
	case n.AfterResends > 0 && e.resends > n.AfterResends:
		n.open(now, key, letter, fresh)
		return fresh, false
	case n.Slides:
		e.at = now
	case n.SecondGroup && e.group != letter.Group: // in the scope of the queue
		delete(n.entries, key)
	}
	return e.first, true
}

// noteGroup forgets an id in the group that it was last used in, if that is another.
func (n *notebook) noteGroup(letter *Letter) {
	last, used := n.lastGroup[letter.DedupID]
	if used && last != letter.Group && n.scope == window.ScopeGroup {
		delete(n.entries, n.key(last, letter.DedupID))
	}
	n.lastGroup[letter.DedupID] = letter.Group
}

func (n *notebook) open(now time.Time, key string, letter *Letter, fresh Sent) {
	n.prune(now)
	if n.LearnsAtMost > 0 && len(n.entries) >= n.LearnsAtMost {
		return
	}
	e := &entry{first: fresh, group: letter.Group, at: now, pending: n.FromReceive}
	n.entries[key] = e
	if n.KeepsAtMost == 0 {
		return
	}
	n.opened = append(n.opened, opening{key, e})
	for len(n.entries) > n.KeepsAtMost || !n.alive(n.opened[0].entry, now) {
		oldest := n.opened[0]
		n.opened = n.opened[1:]
		if n.entries[oldest.key] == oldest.entry {
			delete(n.entries, oldest.key)
		}
	}
}

func (n *notebook) alive(e *entry, now time.Time) bool {
	end := e.at.Add(n.Length)
	if n.SweepEvery > 0 {
		if sweep := end.Truncate(n.SweepEvery); sweep.Before(end) {
			end = sweep.Add(n.SweepEvery)
		}
	}
	return e.pending || now.Before(end)
}

// prune drops dead entries. One that swallows needs to know them for longer.
func (n *notebook) prune(now time.Time) {
	const longer = 12 * window.Length
	if len(n.entries) <= n.sweepAt && (n.LearnsAtMost == 0 || len(n.entries) < n.LearnsAtMost) {
		return
	}
	at := now
	if n.Swallows {
		at = now.Add(-longer)
	}
	for key, e := range n.entries {
		if !n.alive(e, at) {
			delete(n.entries, key)
		}
	}
	n.sweepAt = 2*len(n.entries) + 1024
}

func (n *notebook) forget(group, id string) { delete(n.entries, n.key(group, id)) }

// received begins the window of an id whose message is received.
func (n *notebook) received(now time.Time, group, id string) {
	if e := n.entries[n.key(group, id)]; e != nil && e.pending {
		e.pending, e.at = false, now
	}
}
