package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/logging"

	"fifoproof/internal/cli"
)

// What stands in where a loopback endpoint is used and nothing is configured.
const (
	testRegion = "us-east-1"
	testKey    = "test"
	testSecret = "test"
)

// connections is how many idle connections per endpoint are kept: as many as
// requests run side by side, since the SDK's ten make the others dial anew.
const connections = 64

// Options say which endpoint a client talks to.
type Options struct {
	Endpoint string // a URL; "" takes it from the environment, the profile or Queue
	Queue    string // name or URL; a URL outside AWS implies its endpoint
}

// Client opens an SQS client. It returns notes for standard error where it filled
// in something that the user did not configure.
func Client(ctx context.Context, o Options) (*sqs.Client, []string, error) {
	endpoint, region, err := implied(o)
	if err != nil {
		return nil, nil, err
	}
	load := loadOptions()
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the AWS configuration: %w", err)
	}
	client := sqs.NewFromConfig(cfg, func(so *sqs.Options) {
		// An endpoint in the environment or profile is an explicit wish and wins
		// over the host of a queue URL, which is often a name that does not resolve.
		if o.Endpoint != "" || so.BaseEndpoint == nil {
			so.BaseEndpoint = pointer(endpoint)
		}
	})
	effective := aws.ToString(client.Options().BaseEndpoint)

	var notes []string
	if loopback(effective) {
		// No machine's metadata service has a say about a server on this machine,
		// and asking it costs seconds where there is none.
		load = append(load, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
		if cfg, err = config.LoadDefaultConfig(ctx, load...); err != nil {
			return nil, nil, fmt.Errorf("reading the AWS configuration: %w", err)
		}
		var missing []string
		if cfg.Region == "" && region == "" {
			region = testRegion
			missing = append(missing, "region "+testRegion)
		}
		if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
			cfg.Credentials = credentials.NewStaticCredentialsProvider(testKey, testSecret, "")
			missing = append(missing, "test credentials")
		}
		if len(missing) > 0 {
			notes = append(notes, fmt.Sprintf("using %s for the loopback endpoint %s, since none are configured", strings.Join(missing, " and "), effective))
		}
	}
	if cfg.Region == "" {
		cfg.Region = region
	}
	if cfg.Region == "" {
		return nil, nil, cli.Hint(errors.New("no AWS region is configured"), "set AWS_REGION, or name an endpoint with --endpoint or AWS_ENDPOINT_URL")
	}
	return sqs.NewFromConfig(cfg, func(so *sqs.Options) {
		so.BaseEndpoint = pointer(effective)
		so.HTTPClient = whole{so.HTTPClient}
	}), notes, nil
}

// loadOptions are how the AWS configuration is read.
func loadOptions() []func(*config.LoadOptions) error {
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = connections
	})
	return []func(*config.LoadOptions) error{
		config.WithHTTPClient(transport),
		// The SDK would write of connections that it could not reuse to standard
		// error, between the program's own lines.
		config.WithLogger(logging.Nop{}),
	}
}

// implied is the endpoint and the region that o itself tells.
func implied(o Options) (endpoint, region string, err error) {
	if o.Endpoint != "" {
		u, err := parse(o.Endpoint)
		if err != nil {
			return "", "", cli.Hint(err, "an endpoint looks like http://127.0.0.1:9324")
		}
		return strings.TrimSuffix(u.String(), "/"), "", nil
	}
	if !strings.Contains(o.Queue, "://") {
		return "", "", nil
	}
	u, err := parse(o.Queue)
	if err != nil {
		return "", "", cli.Hint(err, "a queue is named by its name or by its whole URL")
	}
	if amazon(u.Hostname()) {
		if labels := strings.Split(u.Hostname(), "."); len(labels) > 2 && labels[0] == "sqs" {
			region = labels[1]
		}
		return "", region, nil
	}
	return u.Scheme + "://" + u.Host, "", nil
}

func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the URL %q: %w", text, err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("the URL %q is not one of http or https with a host", text)
	}
	return u, nil
}

// amazon reports whether host is AWS itself.
func amazon(host string) bool {
	for _, domain := range []string{"amazonaws.com", "amazonaws.com.cn", "api.aws", "api.amazonwebservices.com.cn"} {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

// loopback reports whether endpoint is a server on this machine.
func loopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, "localhost.localstack.cloud")
}

func pointer(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
