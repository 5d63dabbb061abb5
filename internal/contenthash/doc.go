// Package contenthash owns the way from the bytes of a JSON body to its
// MessageDeduplicationId.
package contenthash
