// Package contenthash owns the way from the bytes of a JSON body to its
// MessageDeduplicationId: the canonical form, the selection of fields, and the
// SHA-256 of both. [Hasher.Explain] tells how an id came about.
//
// # The canonical form
//
// It is RFC 8785 (JSON Canonicalization Scheme) in everything but numbers, which
// keep their exact decimal value. RFC 8785 takes numbers through IEEE 754
// doubles, where at 7.3e18, the size of today's 64-bit ids, 1,024 neighbours in a
// row share one text: two messages would get one id, and SQS would keep the first
// and report success for the second. Options.Strict gives RFC 8785 itself, byte for
// byte, and refuses the numbers that it would change.
//
// The id of a body that is canonical already is its plain SHA-256, which is what
// SQS makes of it with ContentBasedDeduplication.
//
// # What stays
//
// The form of a body under one set of options never changes. If it must, it gets a
// new name, an option, and a new [GroupVersion]: ids that differ between two
// releases would let duplicates pass, ids that fall together would lose messages.
//
// # What it never does
//
// It does no I/O, reads no clock, and knows no SQS types. It never changes or
// keeps the caller's bytes, and its errors quote at most 64 bytes of them.
//
// # Reading the code
//
// hasher.go is the API. scan.go reads a body in one pass and keeps records, which
// engine.go describes; order.go makes the canonical text from them; text.go and
// number.go respell strings and numbers; selection.go compiles pointers to the tree
// that the scan walks along, selecting.go. walk.go finds places again, for errors,
// Explain and Lookup.
package contenthash
