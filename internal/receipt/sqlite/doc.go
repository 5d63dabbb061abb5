// Package sqlite keeps receipts in one SQLite file, or in memory.
//
// A file is in write-ahead mode with synchronous=FULL, so that a commit that was
// answered survives a power cut; write transactions begin IMMEDIATE and wait for
// each other, also between processes. Every store has one connection: SQLite has
// one writer anyway, and a database in memory lives in its connection.
//
// The package never decides what an event is: keys come from the caller, and the
// unique index over them is what makes an effect happen once.
package sqlite
