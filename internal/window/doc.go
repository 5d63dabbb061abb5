// Package window owns the rules of the deduplication interval of an Amazon SQS
// FIFO queue, twice over.
//
// On exact time, for whoever is the queue: [Table] decides whether a send is new
// or a duplicate. A send that is accepted opens the interval [t, t+Length) for
// its id. A later send of that id inside it is a duplicate, whatever became of the
// first message (received, deleted, in flight), and does not extend the interval;
// a send at t+Length or later is a new message and opens an interval of its own.
// An id belongs to the whole queue or to its message group ([Scope]).
//
// On intervals of time, for whoever only sends and watches: a client knows that a
// send was accepted somewhere between the start of its first attempt and its last
// answer. [Rule] says from such intervals what must have happened to a probe
// (suppressed, delivered) or that nothing can be said, and when to send the next
// probe so that something can. [Belief] does the same for a series of sends of one
// id, some of them unanswered.
//
// That the interval is five minutes, that it is counted from an accepted send, and
// that receiving or deleting the message does not end it, is what the AWS API
// reference says (SendMessage, MessageDeduplicationId; "Exactly-once processing in
// Amazon SQS" in the developer guide). That a duplicate does not extend it, and that
// its end is sharp, AWS has published nowhere: here it is the reference that a
// queue is compared with.
//
// The package never reads a clock, starts a goroutine, or knows an SQS request:
// time is an argument everywhere. It imports the standard library alone.
package window
