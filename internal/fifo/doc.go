// Package fifo owns one SQS FIFO queue as a value: what is accepted, what is a
// duplicate, who may receive which message and when.
//
// Every method takes now, in a time that never has to be the machine's; a reading
// that lies before an earlier one counts as the earlier one. Which send is a
// duplicate is decided by package window. A [Variant] replaces single decisions
// by other ones, so that a test suite can be shown to notice the wrong ones among
// them and to put up with the rest.
//
// # Rules
//
//   - A message is delayed, visible or in flight. The delay is the queue's and
//     holds for every message that was never received, also after it changed
//     (developer guide, "delay queues": retroactive on FIFO queues).
//   - A group gives out its messages in order, from its oldest one up to, and not
//     including, the first that is delayed or in flight. This is the whole of the
//     group lock, and it yields what is recorded of AWS for visibility changes:
//     with the first message of a batch released, it comes again alone; with one
//     in the middle extended, those before it come again and those after do not.
//   - A receive takes as many as it can from the group with the oldest such
//     message, then goes on to the next group.
//   - A receipt is worth something until its visibility timeout ends or the
//     message is received again, which ends it for good.
//   - A message that was received as often as a receive allows leaves the queue at
//     that receive as a [DeadLetter]. A queue knows no other queue: its keeper puts
//     the letter into the next one ([Queue.Bury]), at the same time.
//
// The package never reads a clock, starts a goroutine, waits or speaks a
// protocol. A [Queue] is not safe for concurrent use.
package fifo
