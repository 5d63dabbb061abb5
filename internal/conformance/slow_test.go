package conformance_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/conformance"
	"fifoproof/internal/target"
)

// sluggish answers a batch late, on the clock that the case measures.
type sluggish struct {
	next  sqs.HTTPClient
	clock *clock.Clock
	by    time.Duration
}

func (s sluggish) Do(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.Header.Get("X-Amz-Target"), "SendMessageBatch") {
		if err := clock.Sleep(request.Context(), *s.clock, s.by); err != nil {
			return nil, err
		}
	}
	return s.next.Do(request)
}

// TestSlowEndpoint: a case of many messages times its first hundred, and is skipped with
// the rate that it saw where the rest would take over twenty seconds. That is no open
// question.
func TestSlowEndpoint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		by       time.Duration // each ten messages
		thousand conformance.Verdict
		more     conformance.Verdict
	}{
		{10 * time.Millisecond, conformance.Pass, conformance.Pass},
		{50 * time.Millisecond, conformance.Pass, conformance.Skipped},     // 200/s: 5 s, 50 s
		{500 * time.Millisecond, conformance.Skipped, conformance.Skipped}, // 20/s: 50 s
	} {
		s := setup(t, target.Embedded, "")
		s.Exact = false
		connect := s.Connect
		s.Connect = func(wrap func(sqs.HTTPClient) sqs.HTTPClient) (*sqs.Client, clock.Clock, error) {
			var its clock.Clock
			client, opened, err := connect(func(next sqs.HTTPClient) sqs.HTTPClient {
				return wrap(sluggish{next, &its, tt.by})
			})
			its = opened
			return client, opened, err
		}
		selected, err := conformance.Select(conformance.Catalogue(), []string{"window/memory"})
		require.NoError(t, err)
		cases, _ := conformance.Close(conformance.Catalogue(), selected)
		results := run(t, cases, s)
		require.Zero(t, results.Summary.Exit, "%s", tt.by)
		for _, r := range results.Cases {
			want, sized := map[string]conformance.Verdict{
				"window/memory/thousand": tt.thousand, "window/memory/ten-thousand": tt.more,
			}[r.ID]
			if !sized {
				continue
			}
			require.Equal(t, want, r.Verdict, "%s at %s: %s", r.ID, tt.by, r.Seen)
			require.Equal(t, want == conformance.Skipped, r.Slow)
			if r.Slow {
				require.Regexp(t, `^the endpoint took \d+ messages a second, so \d+ would take \d+`, r.Reason)
			}
		}
	}
}
