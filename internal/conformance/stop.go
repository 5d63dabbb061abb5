package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
	"fifoproof/internal/budget"
)

// Interrupted is the reason of a case that was stopped before its end.
const Interrupted = "interrupted"

// CutShort reports whether a reason tells of a run that ended early, and nothing of the
// case.
func CutShort(reason string) bool {
	return reason == Interrupted || strings.HasPrefix(reason, overText) || strings.HasPrefix(reason, budget.SpentText)
}

// errPremise says that the endpoint did not do what the case builds on.
var errPremise = errors.New("a premise of the case does not hold")

// tooSlow says that a case would take too long on this endpoint.
type tooSlow struct{ reason string }

func (e *tooSlow) Error() string { return e.reason }

// overError says that the run was ended from outside of the case, and why.
type overError struct{ cause error }

const overText = "the run was ended: "

func (e *overError) Error() string { return overText + e.cause.Error() }

func (e *overError) Unwrap() error { return nil } // its cause is another case's

// because adds to the error of an ended run what ended it, where that is known.
func because(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if ctx.Err() == nil || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) || !errors.Is(err, ctx.Err()) {
		return err
	}
	return &overError{cause: cause}
}

// stopped says what it means that a case could not take all its steps.
func stopped(err error) *Stop {
	var answered smithy.APIError
	var slow *tooSlow
	var foreign *foreignError
	var spent *budget.SpentError
	var over *overError
	switch {
	case errors.As(err, &slow):
		return &Stop{Verdict: Skipped, Reason: slow.reason, Slow: true}
	case errors.As(err, &foreign):
		return &Stop{Verdict: Errored, Reason: foreign.Error()}
	case errors.As(err, &spent):
		return &Stop{Verdict: Inconclusive, Reason: spent.Error()}
	case errors.As(err, &over):
		return &Stop{Verdict: Inconclusive, Reason: over.Error()}
	case errors.Is(err, errUnable), errors.Is(err, errPremise):
		return &Stop{Verdict: Inconclusive, Reason: err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Stop{Verdict: Inconclusive, Reason: Interrupted}
	case errors.As(err, &answered):
		// The message may name handles and queues of the run, so that a list of known
		// failings could not hold it.
		return &Stop{
			Verdict: Inconclusive, Reason: "the endpoint answered " + awserr.Name(answered.ErrorCode()),
			Detail: answered.ErrorMessage(),
		}
	case statusOf(err) >= http.StatusInternalServerError:
		// Which failure a server that has broken down tells of may differ from run to run.
		return &Stop{Verdict: Inconclusive, Reason: "the endpoint answered with a failure of the server's, and no error code"}
	case statusOf(err) != 0:
		return &Stop{Verdict: Inconclusive, Reason: fmt.Sprintf("the endpoint answered with status %d and no error code", statusOf(err))}
	}
	return &Stop{Verdict: Errored, Reason: err.Error()}
}
