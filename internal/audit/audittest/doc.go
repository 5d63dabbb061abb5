// Package audittest makes pairs of a send log and receipts with faults planted at
// known lines, so that an audit can be shown to find all of them and nothing else.
//
// It never judges anything, and knows nothing of how an audit works.
package audittest
