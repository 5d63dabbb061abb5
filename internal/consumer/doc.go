// Package consumer owns the receiving path: poll a queue, make each message's key,
// record the delivery, carry out its effect once, delete it.
//
// # One message
//
// Per reply one commit writes a receipt for every delivery, before anything else
// happens to it. Then each message is begun (attempt and lease are committed), given to
// its handler, completed (inbox, effect and kind of receipt in one transaction), and
// deleted after that commit. A process that dies anywhere in between leaves messages
// that come again, and no second effect of a handler that works in the transaction. One
// that reaches outside is called at least once, always with the same key.
//
// # One group
//
// [Consumer.Run] has a lane for every message group in hand: one message at a time, in
// the order of sequence numbers; lanes run side by side. What fails is hidden for a
// back-off and leaves the lane; what waits behind it is held: kept in hand and hidden by
// heartbeats, so that a poison message does not carry its followers to the dead-letter
// queue by their receive counts. A hold ends when the message comes back here, when the
// receipts show it done or dead (whoever had it), or, one visibility timeout after its
// back-off, by giving back what waits.
//
//	received -> waiting -> at work -> done -> deleted
//	                |         |-> failed, rejected -> hidden; its lane holds
//	                |         |-> in flight elsewhere -> first in its lane, looked at again
//	                |         `-> halted -> first in its lane, until the handler is mended
//	                `-> expired, given back
//
// Everything in hand has a heartbeat, which is stopped and awaited before the last word
// on a message. A dead message is shown at once, so that the next receive moves it, and
// its lane goes on. A rejected one too, until it is dead: money is never thrown away.
//
// # When it ends
//
// With its context the poll ends at once; handlers finish, within a bound; what was
// not begun is made visible again, each group's last message first, so that nobody is
// overtaken. Nothing is ever sent back as a copy.
//
// # Time
//
// Run waits for many things side by side: it uses package time, which testing/synctest
// knows, and refuses any clock but the machine's. [Consumer.Poll] is one receive carried
// through in one goroutine, without heartbeats; it waits on the configured clock alone,
// which may be one that waits move.
//
// # What it never does
//
// The package never writes SQL, never sets up a client, and never looks at the
// deduplication ID: a dead-letter move replaces that. Bodies never come into its log.
//
// # Reading the code
//
// config.go, consumer.go and message.go, key.go: what is asked for, and what arrives.
// attempt.go: one delivery to its verdict, for both. poll.go: Poll. run.go: Run; intake.go
// fills lane.go, hold.go keeps lanes waiting, gate.go all of them; heartbeat.go, lease.go
// and patience.go keep messages, claims and the store; outbox.go deletes, drain.go ends.
package consumer
