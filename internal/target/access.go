package target

import (
	"errors"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"fifoproof/internal/awserr"
	"fifoproof/internal/cli"
)

// regionDisabled is the code of a region that the account has not switched on.
const regionDisabled = "RegionDisabledException"

// explain adds to a refusal what to do about it. Codes: SQS API reference, common
// errors, and those of the token services behind it.
func explain(err error, otherwise string) error {
	answered, isAnswer := errors.AsType[smithy.APIError](err)
	if !isAnswer {
		return cli.Hint(err, "%s", otherwise)
	}
	code := awserr.Name(answered.ErrorCode())
	switch {
	case code == regionDisabled, strings.Contains(answered.ErrorMessage(), "valid region"):
		return cli.Hint(err, "this account cannot be used in this region: check AWS_REGION, and whether the region is enabled")
	case awserr.Expired(code):
		return cli.Hint(err, "the credentials have expired: get new ones, for example with 'aws sso login', and run it again")
	case awserr.Unknown(code):
		return cli.Hint(err, "the endpoint does not know these credentials: check AWS_PROFILE, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the region")
	case awserr.Denied(code) || status(err) == http.StatusForbidden:
		return cli.Hint(err, "the credentials may not do this: docs/policies/verifier.json has what a run needs, and 'fifoproof plan --json' lists the actions that it calls")
	}
	return cli.Hint(err, "%s", otherwise)
}

func status(err error) int {
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return response.HTTPStatusCode()
	}
	return 0
}
