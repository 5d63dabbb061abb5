package emulator

import (
	"maps"
	"strings"
	"unicode/utf8"
)

// Limits of the developer guide's "cost allocation tags" page.
const (
	tagLimit      = 50
	tagKeyLimit   = 128
	tagValueLimit = 256
)

// checkTags checks added tags beside those that are there.
func checkTags(there, added map[string]string) error {
	for _, key := range sortedKeys(added) {
		switch n := utf8.RuneCountInString(key); {
		case n < 1 || n > tagKeyLimit:
			return invalidValue(key, "Tags", "Tag keys must be between 1 and 128 characters in length.")
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return invalidValue(key, "Tags", "Tag keys cannot start with aws:.")
		case utf8.RuneCountInString(added[key]) > tagValueLimit:
			return invalidValue(key, "Tags", "Tag values must be at most 256 characters in length.")
		}
	}
	all := maps.Clone(added)
	if all == nil {
		return nil
	}
	maps.Copy(all, there)
	if len(all) > tagLimit {
		return invalidParameter("Too many tags: a queue can have %d.", tagLimit)
	}
	return nil
}
