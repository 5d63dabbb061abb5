// Package receipttest owns the one behaviour suite that every driver of
// [receipt.Store] passes: kinds, keys, leases and fencing, policies, crash points,
// races, order, filters, reaping and counts.
//
// It never looks into a database: what a store promises is visible through its
// port. Only time, where the database's clock judges leases, is passed by a function
// that the driver's test gives.
package receipttest
