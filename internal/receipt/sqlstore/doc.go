// Package sqlstore owns what every SQL database does for receipts: the statements,
// and the steps in which a key is claimed, completed, released and forgotten. A
// driver's package gives it the database and the few things in which databases
// differ ([Driver]).
//
// Two rules hold everywhere. A key's row is locked, or the whole database is, from
// the moment it is read until what was decided is committed. And whoever holds a
// claim writes only where the row still has the claim's token, in the same
// transaction as the write.
//
// The package never decides what a delivery is, which [receipt.Decide] does, never
// knows a database by name, never migrates, and never logs.
package sqlstore
