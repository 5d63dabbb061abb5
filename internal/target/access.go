package target

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"fifoproof/internal/awserr"
	"fifoproof/internal/cli"
)

var (
	expired     = []string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
	unknownKeys = []string{
		"InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "InvalidSignatureException",
		"InvalidSecurity", "InvalidAccessKeyId", "IncompleteSignature",
	}
)

func denied(code string) bool { return strings.HasPrefix(code, "AccessDenied") }

// unwelcome reports whether a refusal is about who asks, and not about what is asked.
func unwelcome(code string) bool {
	return slices.Contains(expired, code) || slices.Contains(unknownKeys, code) || denied(code)
}

// explain adds to a refusal what to do about it. Codes: SQS API reference, common
// errors, and those of the token services behind it.
func explain(err error, otherwise string) error {
	answered, isAnswer := errors.AsType[smithy.APIError](err)
	if !isAnswer {
		return cli.Hint(err, "%s", otherwise)
	}
	code := awserr.Name(answered.ErrorCode())
	switch {
	case slices.Contains(expired, code):
		return cli.Hint(err, "the credentials have expired: get new ones, for example with 'aws sso login', and run it again")
	case slices.Contains(unknownKeys, code):
		return cli.Hint(err, "the endpoint does not know these credentials: check AWS_PROFILE, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the region")
	case denied(code) || status(err) == http.StatusForbidden:
		return cli.Hint(err, "the credentials may not do this: 'fifoproof plan --json' lists the actions that a run calls, each a permission sqs:<Action>")
	}
	return cli.Hint(err, "%s", otherwise)
}

func status(err error) int {
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return response.HTTPStatusCode()
	}
	return 0
}
