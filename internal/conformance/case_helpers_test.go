package conformance

import (
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"
)

// TestAttributesMD5 holds the digest to the one that AWS answered for this attribute
// (recorded June 2025, sqslite).
func TestAttributesMD5(t *testing.T) {
	t.Parallel()
	require.Equal(t, recordedAttributeMD5, attributesMD5(recordedAttribute))
}

// TestRefusalOf: an endpoint without the header of the Query protocol shows the shape's
// name, which is as good as the code.
func TestRefusalOf(t *testing.T) {
	t.Parallel()
	answered := func(status int, code string) error {
		return &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
			Err:      &smithy.GenericAPIError{Code: code},
		}}
	}
	for _, tt := range []struct {
		name  string
		names codes
		err   error
		seen  string
		want  string
		stops bool
	}{
		{"the code", noSuchQueue, answered(400, noSuchQueue[0]), noSuchQueue[0], noSuchQueue[0], false},
		{"the shape", noSuchQueue, answered(400, "QueueDoesNotExist"), noSuchQueue[0], noSuchQueue[0], false},
		{"another code", noSuchQueue, answered(400, "UnsupportedOperation"), "UnsupportedOperation", noSuchQueue[0], false},
		{"no refusal", noSuchQueue, nil, accepted, noSuchQueue[0], false},
		{"any code", anyCode, answered(403, "InvalidAddress"), refusedText, refusedText, false},
		{"any code, no refusal", anyCode, nil, accepted, refusedText, false},
		{"throttling is no refusal", anyCode, answered(403, "RequestThrottled"), "", "", true},
		{"nor is a permission that is missing", anyCode, answered(403, "AccessDenied"), "", "", true},
		{"nor are credentials that expire", anyCode, answered(403, "ExpiredToken"), "", "", true},
		{"a failure of the server's is none", anyCode, answered(500, "InternalFailure"), "", "", true},
		{"an endpoint that is not there", anyCode, errors.New("connection refused"), "", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []Record
			b := &Bench{record: func(r Record) { got = append(got, r) }}
			err := b.refusalOf("a call", tt.names, func() error { return tt.err })
			if tt.stops {
				require.Error(t, err)
				require.Empty(t, got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []Record{{Answer: &Answer{What: "a call", Want: tt.want, Seen: tt.seen}}}, got)
		})
	}
}

// TestDoubtful: a call that may have been carried out unheard makes what a case counts
// doubtful; one that surely was not does not.
func TestDoubtful(t *testing.T) {
	t.Parallel()
	end := &Stamp{}
	for _, tt := range []struct {
		name string
		call Call
		want bool
	}{
		{"answered", Call{End: end, Status: 200}, false},
		{"refused", Call{End: end, Status: 400}, false},
		{"throttled", Call{End: end, Status: 403, Code: "RequestThrottled"}, false},
		{"a failure of the server's", Call{End: end, Status: 500}, true},
		{"no answer", Call{}, true},
		{"never sent", Call{NeverSent: true}, false},
	} {
		require.Equal(t, tt.want, (&witness{calls: []Call{{End: end, Status: 200}, tt.call}}).doubtful(), tt.name)
	}
}

// TestNames reads the names of messages back from their bodies.
func TestNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"A", "other"}, names([]types.Message{{Body: aws.String(body("A"))}, {Body: aws.String("other")}}))
}

// TestWrongMessagesDiffer: the case about what is left of refused messages tells them
// apart by their bodies, which must not be one of the right message's.
func TestWrongMessagesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{digestOf(order): "the right message"}
	for _, w := range wrongMessages {
		digest := digestOf(*w.spoilt().MessageBody)
		require.Empty(t, seen[digest], "%s", w.id)
		seen[digest] = w.id
	}
}
