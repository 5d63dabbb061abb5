// Package postgres keeps receipts in a PostgreSQL database, which any number of
// consumers on any number of machines may share.
//
// Tables are those of the connection's search_path, so that a service can keep
// receipts beside its own data, in one transaction with it. The database's clock
// judges leases. Rows are taken with FOR UPDATE SKIP LOCKED, so that nobody waits for
// the effect of somebody else, and every transaction runs under read committed,
// whatever the server's default.
//
// The package never decides what an event is: keys come from the caller, and the
// unique index over them is what makes an effect happen once.
package postgres
