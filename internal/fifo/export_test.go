package fifo

// SetMostInFlight stands in for InFlightLimit, which takes long to reach.
func (q *Queue) SetMostInFlight(n int) { q.most = n }
