package fifo

// nowhere is the place of an element that is in no heap.
const nowhere = -1

// heap is a binary heap whose elements know their place, so that any of them can
// be removed or moved in O(log n).
type heap[E any] struct {
	items  []E
	before func(a, b E) bool
	place  func(E) *int32
}

// top is the least element; ok is false in an empty heap.
func (h *heap[E]) top() (least E, ok bool) {
	if len(h.items) == 0 {
		return least, false
	}
	return h.items[0], true
}

// add puts e in, or moves it where it belongs after its key changed.
func (h *heap[E]) add(e E) {
	place := h.place(e)
	if *place == nowhere {
		*place = int32(len(h.items))
		h.items = append(h.items, e)
	}
	h.down(h.up(int(*place)))
}

// remove takes e out, if it is in.
func (h *heap[E]) remove(e E) {
	at := int(*h.place(e))
	if at == nowhere {
		return
	}
	last := len(h.items) - 1
	h.swap(at, last)
	var none E
	h.items[last] = none
	h.items = h.items[:last]
	*h.place(e) = nowhere
	if at < last {
		h.down(h.up(at))
	}
}

func (h *heap[E]) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(h.items[i], h.items[parent]) {
			break
		}
		h.swap(i, parent)
		i = parent
	}
	return i
}

func (h *heap[E]) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
			if h.before(h.items[child], h.items[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}

func (h *heap[E]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.place(h.items[i]) = int32(i)
	*h.place(h.items[j]) = int32(j)
}
