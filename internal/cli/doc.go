// Package cli owns the manners that the three programs share: exit codes,
// standard streams, errors with a hint, and the reading of command lines.
//
// It never ends the process (only the mains do) and knows nothing of queues.
package cli
