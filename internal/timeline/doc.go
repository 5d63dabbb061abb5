// Package timeline owns the page that shows receipts as a drawing: a row per message,
// a mark per delivery, a bar per attempt, and the same as tables. It is one file that
// needs nothing else: no script, no font, no network.
//
// It is a pure function of receipts. It never reads a store or a clock, and trusts no
// text in them: groups, ids and reasons come from whoever may send to a queue.
package timeline
