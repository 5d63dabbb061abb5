// Package audit owns the judging of real traffic: from a producer's send log and a
// consumer's receipts it says what was sent and never delivered, delivered twice,
// delivered out of order, changed on the way, or delivered though nobody sent it.
//
// # How it decides
//
// The window is that of package window. Between delivered copies of one id their
// SentTimestamps decide, the queue's own clock; gaps within [EdgeTolerance] of the
// window are inconclusive. A send is compared with a copy by the producer's clock,
// which may run off the queue's, so such a comparison clears a send of a suspicion
// or leaves it open; it never makes one. What the two files cannot tell is
// inconclusive, never a pass and never a failure.
//
// # How it stays small
//
// Each file is read once. Every line becomes a few records of fixed size in one
// temporary file, divided into partitions by a hash of what belongs together: the
// id with its queue (and group), the queue with its group, the consumer's key.
// A partition is then judged in memory. Records carry the place of their line in
// its file, so that the text of the first offender can be read again at the end.
//
// The package never talks to a queue, reads a clock, prints, or names a database
// driver; receipts in a database come through a function of the caller's.
package audit
