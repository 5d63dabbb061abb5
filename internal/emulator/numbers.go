package emulator

import (
	"fmt"
	"time"
)

// Ranges of the API reference, in seconds and messages.
const (
	maxVisibility = 43200
	maxWait       = 20
	maxReceive    = 10
)

func checkRange(parameter string, value, least, most int64) *apiError {
	if value < least || value > most {
		return invalidValue(value, parameter, fmt.Sprintf("Must be between %d and %d, if provided.", least, most))
	}
	return nil
}

func inSeconds(n int64) time.Duration { return time.Duration(n) * time.Second }
