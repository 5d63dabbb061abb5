// Package consumer owns the receiving path: poll a FIFO queue, make each
// message's key, record the delivery, carry out its effect once, delete it.
//
// Per reply, in this order: the keys are made; one commit writes a receipt for
// every delivery; each message is completed in a transaction of its own (inbox,
// effect, kind of receipt), in the order in which the queue gave them; what was
// committed is deleted. A process that dies anywhere in between leaves messages
// that come again, and no second effect.
//
// A message that no key can be made for is rejected and not deleted: money is
// never thrown away. It stays with the queue, whose redrive policy moves it aside
// in the end, and until then SQS holds back the rest of its group. The messages
// behind it in the same reply are not worked on either, so nothing overtakes.
//
// The package never writes SQL, never sets up a client, and never looks at the
// deduplication ID: a dead-letter move replaces that.
package consumer
