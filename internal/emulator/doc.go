// Package emulator owns the SQS protocol: AWS JSON 1.0 over [net/http.Handler] as
// the unmodified SDK speaks it, with the error codes and statuses of SQS, on FIFO
// queues only.
//
// An action has a file of its own, named after it. It reads its input, looks up
// the queue, lets package fifo decide and writes the output; names of attributes
// are in queue_attributes.go, what a message may hold in message.go, and errors in
// errors.go.
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
