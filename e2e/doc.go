// Package e2e owns the tests that run the three built programs as their users do:
// real processes, real sockets on loopback, real exit codes. The scripts in
// testdata/ are what they do; it has no code of its own to offer.
package e2e
