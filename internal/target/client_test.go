package target

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
)

// bare is a user who configured nothing.
func bare(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS", "AWS_REGION", "AWS_DEFAULT_REGION",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE",
	} {
		t.Setenv(name, "")
		require.NoError(t, os.Unsetenv(name))
	}
	empty := filepath.Join(t.TempDir(), "none")
	t.Setenv("AWS_CONFIG_FILE", empty)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", empty)
}

func TestClient(t *testing.T) {
	for _, tt := range []struct {
		name     string
		env      map[string]string
		options  Options
		endpoint string
		region   string
		key      string // access key; "" is not asked for
		notes    string // of the one note; "" for none
	}{
		{
			name: "loopback without anything", options: Options{Endpoint: "http://127.0.0.1:9324"},
			endpoint: "http://127.0.0.1:9324", region: "us-east-1", key: "test", notes: "using region us-east-1 and test credentials for the loopback endpoint http://127.0.0.1:9324",
		},
		{
			name: "loopback with credentials", options: Options{Endpoint: "http://localhost:9324/"},
			env:      map[string]string{"AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu-west-1"},
			endpoint: "http://localhost:9324", region: "eu-west-1", key: "mine",
		},
		{
			name: "endpoint from the environment", options: Options{Queue: "orders.fifo"},
			env:      map[string]string{"AWS_ENDPOINT_URL": "http://[::1]:4566"},
			endpoint: "http://[::1]:4566", region: "us-east-1", key: "test", notes: "the loopback endpoint http://[::1]:4566",
		},
		{
			name: "endpoint of the service wins over the general one", options: Options{},
			env:      map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:2"},
			endpoint: "http://127.0.0.1:2", region: "us-east-1", notes: "test credentials",
		},
		{
			name: "endpoint implied by the queue", options: Options{Queue: "http://127.0.0.1:9324/000000000000/orders.fifo"},
			endpoint: "http://127.0.0.1:9324", region: "us-east-1", key: "test", notes: "test credentials",
		},
		{
			name: "the environment wins over a queue's host", options: Options{Queue: "http://sqs.us-east-1.localhost.localstack.cloud:4566/000000000000/orders.fifo"},
			env:      map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"},
			endpoint: "http://127.0.0.1:4566", region: "us-east-1", notes: "test credentials",
		},
		{
			name: "a named endpoint wins over both", options: Options{Endpoint: "http://127.0.0.1:3", Queue: "http://127.0.0.1:2/0/q.fifo"},
			env:      map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:1"},
			endpoint: "http://127.0.0.1:3", region: "us-east-1", notes: "test credentials",
		},
		{
			name: "AWS by its queue URL", options: Options{Queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/orders.fifo"},
			env:      map[string]string{"AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "s"},
			endpoint: "", region: "eu-central-1", key: "mine",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bare(t)
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			client, notes, err := Client(t.Context(), tt.options)
			require.NoError(t, err)
			require.Equal(t, tt.endpoint, aws.ToString(client.Options().BaseEndpoint))
			require.Equal(t, tt.region, client.Options().Region)
			if tt.key != "" {
				used, err := client.Options().Credentials.Retrieve(t.Context())
				require.NoError(t, err)
				require.Equal(t, tt.key, used.AccessKeyID)
			}
			if tt.notes == "" {
				require.Empty(t, notes)
				return
			}
			require.Len(t, notes, 1)
			require.Contains(t, notes[0], tt.notes)
		})
	}
}

// TestClientBehindCorporateProxy: with AWS_CA_BUNDLE set, LoadDefaultConfig refuses
// an HTTP client that it cannot configure.
func TestClientBehindCorporateProxy(t *testing.T) {
	bare(t)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(bundle, []byte(certificate), 0o600))
	t.Setenv("AWS_CA_BUNDLE", bundle)
	_, _, err := Client(t.Context(), Options{Endpoint: "http://127.0.0.1:9324"})
	require.NoError(t, err)
}

func TestClientErrors(t *testing.T) {
	for _, tt := range []struct {
		options Options
		err     string
	}{
		{Options{Endpoint: "127.0.0.1:9324"}, "127.0.0.1:9324"},
		{Options{Endpoint: "ftp://127.0.0.1"}, "not one of http or https"},
		{Options{Queue: "sqs://orders.fifo"}, "not one of http or https"},
		{Options{Queue: "orders.fifo"}, "no AWS region is configured"},
	} {
		t.Run(tt.err, func(t *testing.T) {
			bare(t)
			_, _, err := Client(t.Context(), tt.options)
			require.ErrorContains(t, err, tt.err)
			require.NotEmpty(t, cli.HintOf(err))
		})
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]bool{
		"http://127.0.0.1:1": true, "http://127.9.9.9": true, "http://[::1]:1": true, "http://localhost": true,
		"http://sqs.us-east-1.localhost.localstack.cloud:4566": true,
		"http://10.0.0.1": false, "http://localhost.example.com": false, "https://sqs.eu-west-1.amazonaws.com": false, "": false,
	} {
		require.Equal(t, want, loopback(endpoint), endpoint)
	}
}

func TestAmazon(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"sqs.eu-west-1.amazonaws.com": true, "sqs.cn-north-1.amazonaws.com.cn": true, "sqs.eu-west-1.api.aws": true,
		"amazonaws.com.example.org": false, "notamazonaws.com": false, "127.0.0.1": false,
	} {
		require.Equal(t, want, amazon(host), host)
	}
}

// certificate is a self-signed one; its key was never kept.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBiDCCAS+gAwIBAgIUVsHqASQPFP3oz0F5y4vjDpsNniYwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOZmlmb3Byb29mLXRlc3QwIBcNMjYxMTI5MjIxMDU5WhgPMjEy
NjExMDUyMjEwNTlaMBkxFzAVBgNVBAMMDmZpZm9wcm9vZi10ZXN0MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEsnybL1tTLA7tqXsDMeuX2sfxwo8frvCleQjJhAOt
ORLbl9Buv9Svc4kfI65/cnOky83OmCcs7/5DarSimnCXfKNTMFEwHQYDVR0OBBYE
FHSGpK2tpiBkX7dZ1qobYRe72ITHMB8GA1UdIwQYMBaAFHSGpK2tpiBkX7dZ1qob
YRe72ITHMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgWdJa1X2X
Nu6lzwtyZIHm6Yz9/kR0AlTW3WpChykGA5oCIGliwvnGUCd0VtzeuoIOgaLwx5tw
kIo7OBg8olKGrUTZ
-----END CERTIFICATE-----
`

// TestOneConnection: replies of a fast endpoint must not be lost to the SDK's
// handling of request bodies, which costs a connection each time; see whole.
func TestOneConnection(t *testing.T) {
	bare(t)
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = w.Write([]byte(`{}`))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client, _, err := Client(t.Context(), Options{Endpoint: server.URL})
	require.NoError(t, err)
	for range 500 {
		_, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(server.URL + "/0/q.fifo")})
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, opened.Load())
}
