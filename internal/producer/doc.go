// Package producer owns the way of a message to a FIFO queue: newline-delimited
// JSON is read, every line gets its content-based deduplication ID, lines are cut
// into batches, sent in order, retried under the same ID, and told apart by what
// the queue answered.
//
//   - A body is sent byte for byte as it was given; only its line ending is
//     taken off.
//   - An ID is made once, before the first attempt, and kept over all attempts.
//     Whoever makes a new one per attempt turns every retry into a second message.
//   - One batch is in flight at a time, and the next one waits for its retries, so
//     the order of lines is the order in the queue.
//   - Every attempt is timed by the package itself, since the verdict on a send
//     rests on when it can have been accepted. The SDK's own retries are off.
//   - DelaySeconds is never set: SQS refuses it per message on a FIFO queue.
//
// The package never knows how a canonical form is made (contenthash does), never
// opens a connection or reads AWS configuration, and never prints.
package producer
