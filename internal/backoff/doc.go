// Package backoff owns how long to wait before an attempt is made again:
// exponential growth up to a cap, with full jitter, so that many callers who failed
// together do not come back together.
//
// The package never sleeps and never reads a clock: it says a duration.
package backoff
