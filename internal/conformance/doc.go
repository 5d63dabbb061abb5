// Package conformance owns the cases, their history and their verdicts.
//
// A case is code with an immutable id: it sends, receives and waits through a
// [Bench], and states claims ("these ten sends are one copy") and answers ("the
// code of the refusal"). Everything that crosses the wire is recorded beside it,
// and [Judge], a pure function, turns that history into [Results]: the run itself
// has no other way to a verdict, so a saved history comes to the same bytes.
//
// Cases about bodies drive internal/producer and internal/consumer, so that what
// is proved is the code that users run. What the wire saw must agree with the
// consumer's receipts.
//
// "Nothing arrived" counts only behind a fence, and only where the premises of
// that proof are cases that passed on the same endpoint.
//
// The package never chooses an endpoint, never renders a report, and never
// touches a queue that it did not make, but for two: [Sweep] deletes queues whose
// tags say that an earlier run made them and is over, and a run on a [Given] queue,
// which permits it by a tag, sends messages there and takes its own back.
package conformance
