package contenthash

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// segment is one step of a pointer, decoded.
type segment struct {
	name  string
	every bool // "~*"
}

// parsePointer splits an RFC 6901 pointer; reason says what is wrong with it.
func parsePointer(pointer string) (segments []segment, reason string) {
	if pointer == "" {
		return nil, ""
	}
	switch {
	case !utf8.ValidString(pointer):
		return nil, "is not UTF-8"
	case pointer[0] != '/':
		return nil, fmt.Sprintf("does not begin with a slash (did you mean %q?)", "/"+strings.ReplaceAll(strings.TrimPrefix(pointer, "$."), ".", "/"))
	}
	for part := range strings.SplitSeq(pointer[1:], "/") {
		if part == "~*" {
			segments = append(segments, segment{every: true})
			continue
		}
		for i := range len(part) {
			if part[i] == '~' && (i+1 == len(part) || part[i+1] != '0' && part[i+1] != '1') {
				return nil, `has a "~" that is not part of ~0 (tilde), ~1 (slash) or a whole segment ~* (every element)`
			}
		}
		segments = append(segments, segment{name: unescapeSegment(part)})
	}
	return segments, ""
}

func unescapeSegment(part string) string {
	return strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
}

// checkSegments says what a list of fields does not take.
func checkSegments(segments []segment, include bool) (reason string) {
	if len(segments) == 0 {
		return "names the whole document"
	}
	for _, s := range segments {
		if s.every && include {
			return `has a segment ~*: an included field must be one field`
		}
		if !s.every && !include && isIndex(s.name) {
			return fmt.Sprintf("segment %q reads as an array index, and removing an element would shift the others; write ~* for every element", s.name)
		}
	}
	if segments[len(segments)-1].every {
		return "ends in ~*: to leave out all elements, name the array"
	}
	return ""
}

// isIndex reports whether s is an array index of RFC 6901: digits without a
// leading zero.
func isIndex(s string) bool {
	return s == "0" || s != "" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// arrayIndex reads an array index, if it is one that a body can have.
func arrayIndex(s string) (index int32, ok bool) {
	if !isIndex(s) || len(s) > 9 {
		return 0, false
	}
	for _, c := range []byte(s) {
		index = 10*index + int32(c-'0')
	}
	return index, true
}
