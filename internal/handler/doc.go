// Package handler owns what is done with an event: the port that a consumer calls,
// what its errors mean, and the handlers that come with the program.
//
// There are two sorts. A [Transactional] handler works through the transaction that
// also notes the event's key: its effect and the key are committed together, so it
// happens exactly once. An [External] one reaches outside: a process may die after
// the call and before the key is noted, so the call happens at least once, with a
// key that stays the same for whoever is called to recognise it by.
//
// The package never sees a queue, never decides what an event is, and never waits
// between attempts: errors tell the consumer what to do.
package handler
