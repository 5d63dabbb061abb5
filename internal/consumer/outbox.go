package consumer

// maxDeletes is how many deletes may be in flight. A second one begins when it would
// be full.
const maxDeletes = 8

// flush sends the deletes that are due: at once, and not behind a poll. While one is in
// flight, messages gather for the next. The caller holds the lock.
func (r *run) flush() {
	for len(r.done) > 0 && (r.deletes == 0 || len(r.done) >= batch && r.deletes < maxDeletes) {
		n := min(len(r.done), batch)
		part := r.done[:n:n]
		r.done = r.done[n:]
		r.deletes++
		r.sending.Go(func() { r.send(part) })
	}
}

// send deletes messages. What cannot be deleted at the first try does not hold up
// others.
func (r *run) send(done []*arrival) {
	r.hush(done...)
	free := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.deletes--
		r.flush()
		r.signal()
	}
	if err := r.delete(r.calls, done, free); err != nil {
		r.fail(err)
	}
}
