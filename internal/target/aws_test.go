package target

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
)

func TestCheckRegion(t *testing.T) {
	t.Parallel()
	for _, region := range []string{"eu-central-1", "us-gov-west-1", "cn-north-1", "ap-southeast-7", "us-iso-east-1"} {
		require.NoError(t, checkRegion(region))
	}
	for _, region := range []string{"", "Frankfurt", "eu-central", "eu central 1", "eu-central-1.evil.example", "EU-CENTRAL-1"} {
		err := checkRegion(region)
		require.Error(t, err, region)
		require.NotEmpty(t, cli.HintOf(err), region)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	aws := &Target{Name: AWS, Region: "eu-central-1"}
	local := &Target{Name: "http://127.0.0.1:4566", Region: "eu-central-1"}
	const here, there = "https://sqs.eu-central-1.amazonaws.com/123456789012/q.fifo", "https://sqs.eu-west-1.amazonaws.com/123456789012/q.fifo"
	for _, tt := range []struct {
		target *Target
		queue  string
		err    string
	}{
		{aws, "q.fifo", ""},
		{aws, here, ""},
		{aws, there, "the queue q.fifo is in eu-west-1, and the configured region is eu-central-1"},
		{local, "q.fifo", ""},
		{local, "http://127.0.0.1:4566/000000000000/q.fifo", ""},
		{local, here, "is of AWS, and the target is http://127.0.0.1:4566"},
		{&Target{Name: "https://sqs.eu-central-1.amazonaws.com", Region: "eu-central-1"}, here, ""},
	} {
		err := tt.target.Within(tt.queue)
		if tt.err == "" {
			require.NoError(t, err, tt.queue)
			continue
		}
		require.ErrorContains(t, err, tt.err)
		require.NotEmpty(t, cli.HintOf(err))
	}
}

// TestCharged: what goes to AWS costs money, under whatever name.
func TestCharged(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		AWS: true, "https://vpce-1.sqs.eu-west-1.vpce.amazonaws.com": true, "http://127.0.0.1:4566": false, Embedded: false, "https://sqs.example.org": false,
	} {
		require.Equal(t, want, (&Target{Name: name}).Charged(), name)
	}
	require.Equal(t, "Amazon SQS in eu-central-1", (&Target{Name: AWS, Product: amazonSQS, Region: "eu-central-1"}).String())
}

// TestOverrideSeesNoCredentials: an endpoint in AWS's place that nobody agreed to is not
// spoken to at all.
func TestOverrideSeesNoCredentials(t *testing.T) {
	bare(t)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(server.Close)
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	_, err := OpenAWS(t.Context(), false, noEnv)
	require.ErrorIs(t, err, ErrSpec)
	require.ErrorContains(t, err, "an endpoint stands in AWS's place")
	require.Contains(t, cli.HintOf(err), "--endpoint-override")
	require.Zero(t, asked)

	// With the flag it goes by its own name.
	opened, err := OpenAWS(t.Context(), true, noEnv)
	require.NoError(t, err)
	require.Equal(t, server.URL, opened.Name)
	require.Equal(t, "SQS endpoint at "+server.URL, opened.String())
	require.False(t, opened.Charged())
	require.NotZero(t, asked)
}
