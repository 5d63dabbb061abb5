// Package receipt owns the record of what a consumer did with every delivery:
// the kinds of receipt, what a key is, and the port [Store] that a database
// driver implements.
//
// The order of events is the whole point. [Store.Begin] commits a receipt for
// every delivery before anything else happens to it. [Store.Complete] then, in
// one transaction, notes the key in the inbox, runs the effect where the key is
// new, and says on the receipt which kind it is. Only after that commit may the
// message be deleted. Whatever breaks in between, the key's effect happens once:
//
//   - before Begin: nothing is known, and the queue delivers the message again;
//   - between Begin and Complete: the receipt stays [Pending], and the redelivery
//     is [Fresh] with the one effect;
//   - between Complete and the delete: the redelivery finds its key and is
//     [Redelivered] without effect.
//
// Drivers live in subpackages. One suite, receipttest.Exercise, holds all of them
// to the same behaviour.
//
// The package never sees a queue's client, a message's body or a clock: times
// come with the deliveries.
package receipt
