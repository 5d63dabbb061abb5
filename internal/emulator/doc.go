// Package emulator owns the SQS protocol: AWS JSON 1.0 over [net/http.Handler] as
// the unmodified SDK speaks it, with the error codes and statuses of SQS, on FIFO
// queues only.
//
// An action has a file of its own, named after it. It reads its input, looks up
// the queue, lets package fifo decide and writes the output; names of attributes
// are in queue_attributes.go, what a message may hold in message.go, and errors in
// errors.go. Dead-letter queues are in redrive.go, moves back in move_task.go.
//
// One lock guards all queues of a server, because a message that moves between two of
// them must not be seen in both or in none. Nothing is done but on a request: what a
// move task should have done in the meantime is done by the next request that takes
// the lock, as of the time it was due.
//
// A server can be told to disturb requests (disturbance.go), and can be made a variant
// of itself, wrong or legal (variants.go has the list; what a variant replaces stands
// in hooks.go and in fifo.Variant).
//
// Time comes from a [fifoproof/internal/clock.Clock]. A long poll holds no lock
// while it waits; it is woken by whatever happens to its queue. On clock.Virtual it
// moves time to the next event or to its deadline, which is sound only while it is
// the clock's sole actor: every in-process user has a server and a clock of its
// own. On clock.Manual it answers empty when the clock's patience ends.
//
// What is served and what is not stands in docs/endpoint.md.
//
// The package never decides about duplicates or order, never reads the machine's
// clock and never listens on a socket.
package emulator
