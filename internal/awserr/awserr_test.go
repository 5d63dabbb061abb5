package awserr_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/awserr"
)

func TestBrief(t *testing.T) {
	t.Parallel()
	framed := func(err error) error {
		return &smithy.OperationError{ServiceID: "SQS", OperationName: "SendMessage", Err: fmt.Errorf("exceeded maximum number of attempts, 3, %w", err)}
	}
	refused := errors.New("dial tcp 127.0.0.1:1: connect: connection refused")
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"an answer", framed(&smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}), "AccessDenied: no"},
		{"an answer without words", framed(&smithy.GenericAPIError{Code: "AccessDenied"}), "AccessDenied"},
		{"nobody there", framed(&url.Error{Op: "Post", URL: "http://127.0.0.1:1/", Err: refused}), refused.Error()},
		{"out of time", framed(&url.Error{Err: context.DeadlineExceeded}), "no answer in time"},
		{"interrupted", framed(context.Canceled), "interrupted before the answer came"},
		{"the SDK's own", &smithy.OperationError{Err: errors.New("no credentials")}, "no credentials"},
		{"any other", errors.New("other"), "other"},
		{"a whole page", errors.New(strings.Repeat("x", 500)), strings.Repeat("x", 400) + "…"},
	} {
		got := awserr.Brief(tt.err)
		require.Equal(t, tt.want, got.Error(), tt.name)
		require.ErrorIs(t, got, tt.err, tt.name)
	}
	require.NoError(t, awserr.Brief(nil))
}

func TestName(t *testing.T) {
	t.Parallel()
	// AWS JSON 1.0 protocol, "Operation error serialization".
	require.Equal(t, "QueueDoesNotExist", awserr.Name("com.amazonaws.sqs#QueueDoesNotExist"))
	require.Equal(t, "AWS.SimpleQueueService.NonExistentQueue", awserr.Name("AWS.SimpleQueueService.NonExistentQueue"))
	require.Empty(t, awserr.Name(""))
}

func TestThrottled(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"RequestThrottled": true, "ThrottlingException": true, "Throttling": true, "KMS.ThrottlingException": true, "KmsThrottled": true,
		"AccessDenied": false, "": false,
	} {
		require.Equal(t, want, awserr.Throttled(code), code)
	}
}
