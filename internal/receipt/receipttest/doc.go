// Package receipttest owns the one behaviour suite that every driver of
// [receipt.Store] passes: kinds, keys, crash points, races, order and counts.
//
// It never looks into a database: what a store promises is visible through its
// port.
package receipttest
