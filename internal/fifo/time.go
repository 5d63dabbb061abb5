package fifo

import "time"

// advance does all that time alone brings about up to now and returns the queue's
// time, which never goes back.
func (q *Queue) advance(now time.Time) time.Time {
	if now.Before(q.now) {
		now = q.now
	}
	q.now = now

	q.enqueueLate(now)
	for q.head != nil && !q.expiry(q.head).After(now) {
		q.remove(q.head)
	}
	for {
		m, ok := q.hidden.top()
		if !ok || m.hiddenUntil.After(now) {
			break
		}
		q.hidden.remove(m)
		q.shift(m, visible)
		q.refresh(m.group)
		q.variant.timedOut(q, m)
	}
	for m := q.nextDelayed(); m != nil && !m.sentAt.Add(q.settings.Delay).After(now); m = q.nextDelayed() {
		q.shift(m, visible)
		q.refresh(m.group)
	}
	q.attempts.expire(now)
	return now
}

func (q *Queue) expiry(m *message) time.Time { return m.sentAt.Add(q.settings.Retention) }

// nextDelayed is the oldest delayed message. All have the same delay, so it is the
// first to become visible.
func (q *Queue) nextDelayed() *message {
	for q.firstDelayed != nil && q.firstDelayed.state != delayed {
		q.firstDelayed = q.firstDelayed.next
	}
	return q.firstDelayed
}

// NextEvent is the next moment after now at which time alone may make an empty
// receive return something: a visibility timeout or a delay ends, or a message
// that locks its group expires. ok is false where no such moment is known.
func (q *Queue) NextEvent(now time.Time) (at time.Time, ok bool) {
	q.advance(now)
	consider := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if m, some := q.hidden.top(); some {
		consider(m.hiddenUntil)
	}
	if m := q.nextDelayed(); m != nil {
		consider(m.sentAt.Add(q.settings.Delay))
	}
	if q.head != nil {
		consider(q.expiry(q.head))
	}
	if len(q.late) > 0 {
		consider(q.late[0].at)
	}
	return at, ok
}

// Set changes the settings. A new delay and a new retention hold for messages that
// are in the queue already; a new visibility only for later receives.
func (q *Queue) Set(now time.Time, settings Settings) {
	now = q.advance(now)
	delay := q.settings.Delay
	q.settings = settings
	if settings.Delay != delay {
		q.firstDelayed = q.head
		for m := q.head; m != nil; m = m.next {
			if m.count > 0 {
				continue
			}
			if m.sentAt.Add(settings.Delay).After(now) {
				q.shift(m, delayed)
			} else {
				q.shift(m, visible)
			}
			q.refresh(m.group)
		}
	}
	q.advance(now)
}
