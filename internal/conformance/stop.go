package conformance

import (
	"context"
	"errors"

	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
)

// Interrupted is the reason of a case that was stopped before its end.
const Interrupted = "interrupted"

// errPremise says that the endpoint did not do what the case builds on.
var errPremise = errors.New("a premise of the case does not hold")

// tooSlow says that a case would take too long on this endpoint.
type tooSlow struct{ reason string }

func (e *tooSlow) Error() string { return e.reason }

// stopped says what it means that a case could not take all its steps.
func stopped(err error) *Stop {
	var answered smithy.APIError
	var slow *tooSlow
	switch {
	case errors.As(err, &slow):
		return &Stop{Verdict: Skipped, Reason: slow.reason, Slow: true}
	case errors.Is(err, errUnable), errors.Is(err, errPremise):
		return &Stop{Verdict: Inconclusive, Reason: err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Stop{Verdict: Inconclusive, Reason: Interrupted}
	case errors.As(err, &answered):
		return &Stop{Verdict: Inconclusive, Reason: "the endpoint answered " + awserr.Sentence(answered.ErrorCode(), answered.ErrorMessage())}
	}
	return &Stop{Verdict: Errored, Reason: err.Error()}
}
