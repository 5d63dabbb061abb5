package fifo

// SetMostInFlight stands in for InFlightLimit, which takes long to reach.
func (q *Queue) SetMostInFlight(n int) { q.most = n }

// Remembered is how much a variant's memory holds.
func (q *Queue) Remembered() int {
	book, _ := q.memory.(*notebook)
	return max(len(book.entries), len(book.opened))
}
