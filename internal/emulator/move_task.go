package emulator

import (
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"fifoproof/internal/fifo"
)

const (
	// fastest is the most messages a second that a task may be asked to move, and what
	// one moves that is asked for no rate (AWS then chooses by the backlog).
	fastest = 500

	// tasksListed is how many tasks of a queue are remembered (API reference,
	// ListMessageMoveTasks).
	tasksListed = 10
)

// States of a task (API reference, ListMessageMoveTasks). AWS has CANCELLING too.
const (
	taskRunning   = "RUNNING"
	taskCompleted = "COMPLETED"
	taskCancelled = "CANCELLED"
	taskFailed    = "FAILED"
)

// moveTask moves the messages that were in its source when it started, one at a time,
// each at least a rate's interval after the one before. Nothing runs by itself: what
// has become due is moved by whoever takes the server's lock next (settle), as of the
// time it was due.
type moveTask struct {
	id          string
	source      *queue
	destination string // ARN, "" for each message's own source
	rate        int64  // as asked for, 0 for none
	started     time.Time
	newest      uint64 // message to move
	toMove      int    // at the start

	status string
	reason string // of a failure
	moved  int
	due    time.Time // of the next move, if there is a message then
}

func (t *moveTask) interval() time.Duration {
	if t.rate > 0 {
		return time.Second / time.Duration(t.rate)
	}
	return time.Second / fastest
}

// start starts a task that moves the messages of source.
func (s *Server) start(now time.Time, source *queue, destination string, rate int64) *moveTask {
	counts := source.fifo.Counts(now)
	task := &moveTask{
		id: s.ids.uuid(), source: source, destination: destination, rate: rate, started: now,
		newest: source.fifo.Newest(), toMove: counts.Visible + counts.InFlight + counts.Delayed, status: taskRunning,
	}
	task.due = now.Add(task.interval())
	source.tasks = append([]*moveTask{task}, source.tasks[:min(len(source.tasks), tasksListed-1)]...)
	s.moving = append(s.moving, task)
	s.settle(now)
	s.wake(source)
	return task
}

// end ends a task that runs.
func (s *Server) end(t *moveTask, status, reason string) {
	t.status, t.reason = status, reason
	s.moving = slices.DeleteFunc(s.moving, func(other *moveTask) bool { return other == t })
}

// abandon ends the task that moves the messages of q, which is being deleted.
func (s *Server) abandon(q *queue) {
	for _, t := range q.tasks {
		if t.status == taskRunning {
			s.end(t, taskFailed, noSuchQueue().code)
		}
	}
}

// settle does all that tasks have had to do up to now, in the order of time.
func (s *Server) settle(now time.Time) {
	for len(s.moving) > 0 {
		var next *moveTask
		for _, t := range s.moving {
			if t.catchUp(now) && (next == nil || t.due.Before(next.due)) {
				next = t
			}
		}
		if next == nil {
			return
		}
		s.step(next)
	}
}

// catchUp moves due on to the moment, up to now, at which the task has something to do,
// and tells whether there is one: a message that can be moved, or none left to wait for.
func (t *moveTask) catchUp(now time.Time) bool {
	source := t.source.fifo
	at := t.due
	if touched := source.Now(); touched.After(at) {
		at = touched // what the source looked like before is known no more
	}
	if at.After(now) {
		at = now
	}
	for {
		_, ready := source.Front(at, t.newest)
		if !source.Holds(at, t.newest) || ready && !at.Before(t.due) {
			t.due = at
			return true
		}
		next, ok := source.NextEvent(at)
		if at.Before(t.due) || !ok || next.After(now) {
			return false
		}
		at = next
	}
}

// nextMove is when, after now, a task may next have something to do.
func (s *Server) nextMove(now time.Time) (at time.Time, ok bool) {
	for _, t := range s.moving {
		next := t.due
		if _, some := t.source.fifo.Front(now, t.newest); !some {
			if event, later := t.source.fifo.NextEvent(now); later && event.After(next) {
				next = event
			}
		}
		if next.After(now) && (!ok || next.Before(at)) {
			at, ok = next, true
		}
	}
	return at, ok
}

// step moves one message, or ends the task. The message is taken out only once it is
// known where it goes.
func (s *Server) step(t *moveTask) {
	letter, ok := t.source.fifo.Front(t.due, t.newest)
	if !ok {
		s.end(t, taskCompleted, "")
		return
	}
	arn := t.destination
	if arn == "" {
		arn = letter.From
	}
	to := s.named(arn)
	switch {
	case arn == "":
		// As AWS names it for a message that was sent to the queue directly.
		s.end(t, taskFailed, "CouldNotDetermineMessageSource")
		return
	case to == nil:
		s.end(t, taskFailed, noSuchQueue().code)
		return
	}
	t.source.fifo.Withdraw(t.due, t.newest)
	letter.Aside = fifo.Aside{}
	// It has an id, so it cannot fail.
	_, _ = to.fifo.Send(t.due, letter.Letter)
	t.moved++
	to.wake()
	if !t.source.fifo.Holds(t.due, t.newest) {
		s.end(t, taskCompleted, "")
		return
	}
	t.due = t.due.Add(t.interval())
}

// handle names the task, as AWS's do: the base64 of a JSON object.
func (t *moveTask) handle() string {
	// Neither has a character that JSON escapes.
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"taskId":"%s","sourceArn":"%s"}`, t.id, t.source.arn()))
}

type taskName struct {
	ID     string `json:"taskId"`
	Source string `json:"sourceArn"`
}
