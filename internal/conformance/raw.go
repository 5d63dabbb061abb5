package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// withField puts a field into the request that the SDK would leave out, such as a
// number that is zero. It is put in before the request is signed.
func withField(name string, value any) func(*sqs.Options) {
	put := middleware.BuildMiddlewareFunc("WithField", func(ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler) (middleware.BuildOutput, middleware.Metadata, error) {
		request, ok := in.Request.(*smithyhttp.Request)
		if !ok {
			return middleware.BuildOutput{}, middleware.Metadata{}, fmt.Errorf("putting %s into a request of the type %T", name, in.Request)
		}
		changed, err := replaced(request, name, value)
		if err != nil {
			return middleware.BuildOutput{}, middleware.Metadata{}, fmt.Errorf("putting %s into a request: %w", name, err)
		}
		in.Request = changed
		return next.HandleBuild(ctx, in)
	})
	return func(o *sqs.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Build.Add(put, middleware.Before)
		})
	}
}

func replaced(request *smithyhttp.Request, name string, value any) (*smithyhttp.Request, error) {
	text, err := io.ReadAll(request.GetStream())
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	fields[name] = value
	if text, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	return request.SetStream(bytes.NewReader(text))
}
