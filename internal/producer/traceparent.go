package producer

import (
	"errors"
	"fmt"
	"strings"
)

// ParseTraceparent reads a trace context as W3C Trace Context (level 2, section 3.2)
// writes it, and returns it as version 00: "00-", the trace in 32 hexadecimal digits,
// the span in 16, and flags in two, all in lower case. Of a later version what
// version 00 knows is taken, as the recommendation asks.
func ParseTraceparent(text string) (string, error) {
	const length = 55
	if len(text) < length {
		return "", fmt.Errorf("a trace context has %d characters, this has %d", length, len(text))
	}
	version, trace, span, flags := text[:2], text[3:35], text[36:52], text[53:length]
	switch {
	case text[2] != '-' || text[35] != '-' || text[52] != '-':
		return "", errors.New("a trace context is four hexadecimal numbers with - between them")
	case !lowerHex(version) || !lowerHex(trace) || !lowerHex(span) || !lowerHex(flags):
		return "", errors.New("a trace context holds hexadecimal digits in lower case only")
	case version == "ff":
		return "", errors.New("there is no version ff of the trace context")
	case version == "00" && len(text) > length, len(text) > length && text[length] != '-':
		return "", fmt.Errorf("a trace context of version %s ends after %d characters", version, length)
	case strings.Trim(trace, "0") == "":
		return "", errors.New("the trace is zero, which stands for none")
	case strings.Trim(span, "0") == "":
		return "", errors.New("the span is zero, which stands for none")
	}
	return "00" + text[2:length], nil
}

func lowerHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }
