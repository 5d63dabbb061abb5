package window

import "math/bits"

// minSlots is the smallest index that is not empty.
const minSlots = 16

// index finds entries by their key: open addressing with linear probing.
//
// A slot is 32 bits of the key's digest and the number of the entry, so that
// growing, shrinking and removing never touch the entries, which would cost a cache
// miss each. Bit 0 of the digest part is always set, so that 0 is an empty slot.
// At most 3/4 of the slots are in use, more than 3/8 while the index grows, and at
// least 1/4 when it has shrunk: 11, 21 and 32 bytes an id.
type index struct {
	slots []uint64 // length: 0 or a power of two
	shift uint     // 32 - log2(len(slots))
	live  int
}

func slotOf(part, number uint32) uint64 { return uint64(part|1)<<32 | uint64(number) }

// home is where the search for a slot's content starts.
func (x *index) home(slot uint64) int { return int(uint32(slot>>32) >> x.shift) }

func (x *index) after(at int) int { return (at + 1) & (len(x.slots) - 1) }

func (x *index) insert(part, number uint32) {
	if 4*(x.live+1) > 3*len(x.slots) {
		x.resize(max(minSlots, 2*len(x.slots)))
	}
	x.put(slotOf(part, number))
	x.live++
}

func (x *index) put(slot uint64) {
	at := x.home(slot)
	for x.slots[at] != 0 {
		at = x.after(at)
	}
	x.slots[at] = slot
}

// remove takes out the slot with this content and tells whether there was one. The
// slots behind it move up, so that no search ever meets a gap or a tombstone.
func (x *index) remove(part, number uint32) bool {
	if x.live == 0 {
		return false
	}
	slot := slotOf(part, number)
	hole := x.home(slot)
	for x.slots[hole] != slot {
		if x.slots[hole] == 0 {
			return false
		}
		hole = x.after(hole)
	}
	mask := len(x.slots) - 1
	for at := x.after(hole); x.slots[at] != 0; at = x.after(at) {
		if (at-x.home(x.slots[at]))&mask >= (at-hole)&mask {
			x.slots[hole] = x.slots[at]
			hole = at
		}
	}
	x.slots[hole] = 0
	x.live--
	return true
}

// retain keeps the slots of the n entries from number oldest on. It costs a pass over
// the slots and a new place for each one that stays, both in the order of the memory,
// since homes are in the order of the digests; a removal goes anywhere in it.
func (x *index) retain(oldest uint32, n int) {
	old := x.slots
	x.live = 0
	x.reset(sizeFor(n))
	for _, slot := range old {
		if slot != 0 && uint64(uint32(slot)-oldest) < uint64(n) {
			x.put(slot)
			x.live++
		}
	}
}

// sizeFor is the size of an index that n entries fill to between 1/4 and 1/2.
func sizeFor(n int) int {
	size := minSlots
	for size < 2*n {
		size *= 2
	}
	return size
}

// shrink gives memory back when three quarters of the slots are empty. The next
// growth is then as far away as the next shrinking, which keeps both amortised.
func (x *index) shrink() {
	size := len(x.slots)
	for size > minSlots && 4*x.live < size {
		size /= 2
	}
	if size != len(x.slots) {
		x.resize(size)
	}
}

func (x *index) resize(size int) {
	old := x.slots
	x.reset(size)
	for _, slot := range old {
		if slot != 0 {
			x.put(slot)
		}
	}
}

// reset replaces the slots by empty ones.
func (x *index) reset(size int) {
	x.slots = make([]uint64, size)
	x.shift = 32 - uint(bits.TrailingZeros(uint(size)))
}
