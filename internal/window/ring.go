package window

import "time"

// chunkLen is the number of entries that are allocated and given back together.
// It must be a power of two, so that entry numbers may wrap around. 128 entries of
// 64 bytes fill a size class of Go's allocator exactly (8 KiB); a small table costs
// one chunk, and the pointers to the chunks of a large one cost 0.06 bytes an id.
const chunkLen = 128

// entry is an open interval.
type entry[V any] struct {
	opened time.Duration // since the table's base
	key    digest
	first  V
}

// ring is a first-in first-out sequence of entries. Entries are numbered from 0,
// wrapping at 2^32, and never move, so that their number serves as reference.
type ring[V any] struct {
	chunks []*[chunkLen]entry[V]
	head   uint32 // number of the oldest entry
	n      int
}

// at returns the entry of a number that lies in the ring.
func (r *ring[V]) at(number uint32) *entry[V] {
	i := uint64(r.head%chunkLen) + uint64(number-r.head)
	return &r.chunks[i/chunkLen][i%chunkLen]
}

// next is the number that the next pushed entry gets.
func (r *ring[V]) next() uint32 { return r.head + uint32(r.n) }

func (r *ring[V]) push(e entry[V]) {
	i := uint64(r.head%chunkLen) + uint64(r.n)
	if i/chunkLen == uint64(len(r.chunks)) {
		r.chunks = append(r.chunks, new([chunkLen]entry[V]))
	}
	r.chunks[i/chunkLen][i%chunkLen] = e
	r.n++
}

// drop drops the k oldest entries, and the chunks that only they were in.
func (r *ring[V]) drop(k int) {
	if k == r.n {
		// Nothing refers to a number now, so the next one may start a chunk.
		*r = ring[V]{head: (r.next() + chunkLen - 1) / chunkLen * chunkLen}
		return
	}
	from := int(r.head % chunkLen)
	whole := (from + k) / chunkLen
	clear(r.chunks[:whole])
	r.chunks = r.chunks[whole:]
	if whole > 0 {
		from = 0
	}
	r.head += uint32(k)
	r.n -= k
	clear(r.chunks[0][from : r.head%chunkLen]) // a V may hold pointers
}
