// Package conformance owns the cases, their evidence and their verdicts.
//
// A case is code with an immutable id: it sends, receives and waits through a
// [Bench], and states claims ("these ten sends are one copy"). Everything that
// crosses the wire is recorded beside it. When all cases of a run are done and
// each queue had a last receive, [judge] turns claims and evidence into verdicts;
// it is a pure function.
//
// Cases about bodies drive internal/producer and internal/consumer, so that what
// is proved is the code that users run. Their verdicts come from send log and
// receipts, and the raw replies must agree with the receipts.
//
// The package never chooses an endpoint, never renders a report, and never
// touches a queue that it did not make in the same run.
package conformance
