// Package report owns how results look: text for a terminal, JSON for programs, JUnit
// and Markdown for CI jobs, HTML for people who want to see why, and a badge.
//
// Everything in it is a pure function of values that a run left behind. It never
// talks to a queue, reads a clock or judges a case.
package report
