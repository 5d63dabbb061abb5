// Package budget owns the spending cap of a run: how many requests may leave for an
// endpoint that charges for them, counted where they leave.
//
// It never decides how high the cap is, and never makes a request of its own.
package budget
