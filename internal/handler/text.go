package handler

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// clip is the text in what somebody else wrote, at most so many bytes of it: valid
// UTF-8 without NUL, which databases would refuse, cut between two characters.
func clip(raw []byte, most int) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(raw), "�"), "\x00", "�")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// line is the first line of raw that says something, without control characters.
func line(raw []byte, most int) string {
	for text := range strings.Lines(clip(raw, len(raw))) {
		text = strings.TrimSpace(strings.Map(func(c rune) rune {
			if c < ' ' || c == 0x7f {
				return ' '
			}
			return c
		}, text))
		if text != "" {
			return clip([]byte(text), most)
		}
	}
	return ""
}

// limited keeps the first bytes that are written to it, and drops the rest.
type limited struct {
	kept []byte
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p[:min(len(p), l.most-len(l.kept))]...)
	return len(p), nil
}

// traceForm is a traceparent of W3C Trace Context, level 1, section 3.2.
var traceForm = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?$`)

// trace is the event's traceparent, "" where it is none: it comes out of a message
// that anybody may have sent, and goes into headers and environments.
func trace(e Event) string {
	if traceForm.MatchString(e.Traceparent) {
		return e.Traceparent
	}
	return ""
}
