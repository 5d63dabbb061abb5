// Package cli owns the manners that the three programs share: exit codes,
// standard streams, errors with a hint, the reading of command lines, and what else is
// made of a grammar: completion for shells, and the documents in docs/cli.
//
// It never ends the process (only the mains do) and knows nothing of queues.
package cli
