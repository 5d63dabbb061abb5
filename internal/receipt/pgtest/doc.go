// Package pgtest owns the PostgreSQL that tests run against: a real server, started
// once for a test binary in a folder of its own, on a free port of 127.0.0.1, and
// stopped at the end. Every test gets a schema of its own.
//
// The server comes from PATH or from where Debian puts it. Without one the tests are
// skipped, but fail where the environment says CI, so that they are never skipped by
// oversight. FIFOPROOF_POSTGRES names a server that is running already, and is then
// not stopped.
//
// The package never installs anything.
package pgtest
