// Package deadletter owns the way back from a FIFO dead-letter queue: looking at what
// lies there and why, putting it back to where it came from, deleting it, and watching
// how much there is.
//
// # Looking
//
// SQS has no way to look at a message but to receive it, so [Letters.List] receives
// everything, holds it, and gives it back. Two rules of FIFO queues shape that:
//
//   - While a message of a group is in flight, no later one of that group is given out.
//     One receive brings ten at most, so of every group the first ten can be seen and no
//     more, until they are gone. What lies behind them is counted ([Listing.Behind]).
//   - A receive counts. In a dead-letter queue that has a redrive policy of its own it
//     could move the message on; such a queue is refused.
//
// # Putting back
//
// [Letters.Redrive] sends a copy and then deletes the message. A send that was accepted
// is the whole proof that the copy lies in the source, also where the source's
// deduplication window held the id already and swallowed this send: the id is made of
// the source, the MessageId and the moment at which the message came here (its stay), so
// only an earlier run can have sent it, for this very stay, and that send was accepted.
// Killed between the two calls, the message is visible again after
// [Config.Visibility], well inside the five minutes of the window, and the next run
// sends the same id. Comes that run later, the receipts say whether the copy arrived.
// Where there are none, a second copy is sent, which carries the same first-message-id:
// the consumer knows it by that or by its key.
//
// # What it never does
//
// It never starts a move task, never purges, never changes an attribute of a queue, and
// never does anything on its own: what is sent or deleted is what a [Listing] showed. It
// knows no database and sets up no client.
package deadletter
