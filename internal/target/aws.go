package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"fifoproof/internal/awserr"
	"fifoproof/internal/cli"
)

// AWS is the target for Amazon SQS itself, in the region and account that the SDK's own
// chain of environment, profile and role finds.
const AWS = "aws"

// amazonSQS is the product that answers there.
const amazonSQS = "Amazon SQS"

// Identity says on whose behalf, and where, a run on AWS would call.
type Identity struct {
	Account string // 12 digits; "" where an endpoint in AWS's place does not tell
	Caller  string // ARN
	Region  string
}

// signInTime bounds finding credentials and asking who they are.
const signInTime = 30 * time.Second

// regionShape is how AWS writes a region.
var regionShape = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-\d+$`)

// OpenAWS opens Amazon SQS and asks AWS whose credentials these are, which costs nothing
// and needs no permission. No call of SQS is made. Where environment or profile name an
// endpoint in AWS's place, override must say that this is meant; the target is then that
// endpoint, by its URL, and never goes by the name of AWS.
func OpenAWS(ctx context.Context, override bool, env cli.Env) (*Target, error) {
	ctx, cancel := context.WithTimeout(ctx, signInTime)
	defer cancel()
	cfg, err := config.LoadDefaultConfig(ctx, loadOptions()...)
	if err != nil {
		err = fmt.Errorf("reading the AWS configuration: %w", err)
		if _, absent := errors.AsType[config.SharedConfigProfileNotExistError](err); absent {
			return nil, cli.Hint(err, "AWS_PROFILE must name a profile of your AWS configuration; 'aws configure list-profiles' lists them")
		}
		return nil, cli.Hint(err, "'aws configure list' shows where each setting comes from")
	}
	// An endpoint is looked for before any credential is used: it must not see one unasked.
	client := sqs.NewFromConfig(cfg)
	tokens := sts.NewFromConfig(cfg)
	instead := aws.ToString(client.Options().BaseEndpoint)
	identity := aws.ToString(tokens.Options().BaseEndpoint)
	if !override && (instead != "" || identity != "") {
		return nil, cli.Hint(specError("an endpoint stands in AWS's place: "+setting(env, instead, identity)),
			"unset it, or set AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true, to reach AWS; --endpoint-override tests what answers there, and every report says so")
	}
	if err := checkRegion(cfg.Region); err != nil {
		return nil, err
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return nil, noCredentials(err)
	}
	t := &Target{
		Name: AWS, Product: amazonSQS, Region: cfg.Region, Clock: "real",
		client: sqs.New(client.Options(), func(o *sqs.Options) { o.HTTPClient = whole{o.HTTPClient} }),
		who:    Identity{Region: cfg.Region},
	}
	if instead != "" {
		t.Name, t.Product = strings.TrimSuffix(instead, "/"), unknown
		if err := t.identify(ctx); err != nil {
			return nil, err
		}
	}
	if instead == "" || identity != "" {
		if err := t.askIdentity(ctx, tokens, instead != ""); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// setting names the endpoints that are configured, and where.
func setting(env cli.Env, instead, identity string) string {
	for _, name := range []string{"AWS_ENDPOINT_URL_SQS", "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"} {
		if value := env.Get(name); value != "" && (value == instead || value == identity) {
			return name + "=" + value
		}
	}
	return "the endpoint " + cmp.Or(instead, identity) + " of the AWS profile"
}

func checkRegion(region string) error {
	switch {
	case region == "":
		return cli.Hint(errors.New("no AWS region is configured"), "set AWS_REGION, or a region in the profile; it looks like eu-central-1")
	case !regionShape.MatchString(region):
		return cli.Hint(fmt.Errorf("%q is no AWS region", region), "check AWS_REGION and the profile; a region looks like eu-central-1")
	}
	return nil
}

func noCredentials(err error) error {
	if _, stale := errors.AsType[*ssocreds.InvalidTokenError](err); stale {
		return cli.Hint(errors.New("the AWS sign-in has expired"), "sign in anew with 'aws sso login'")
	}
	if answered, ok := errors.AsType[smithy.APIError](err); ok { // a role that could not be assumed, say
		return explain(fmt.Errorf("getting AWS credentials: %w", awserr.Brief(err)), "'"+answered.ErrorCode()+"' is the answer of the service that gives them out")
	}
	return cli.Hint(errors.New("no AWS credentials were found"),
		"set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in with 'aws sso login'")
}

// askIdentity asks whose credentials these are. An endpoint in AWS's place need not know.
func (t *Target) askIdentity(ctx context.Context, tokens *sts.Client, optional bool) error {
	told, err := tokens.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err == nil {
		t.who.Account, t.who.Caller = aws.ToString(told.Account), aws.ToString(told.Arn)
		return nil
	}
	answered, isAnswer := errors.AsType[smithy.APIError](err)
	switch {
	case isAnswer && (!optional || awserr.Unwelcome(answered.ErrorCode()) || answered.ErrorCode() == regionDisabled):
		return explain(fmt.Errorf("asking AWS whose credentials these are: %w", awserr.Brief(err)), "check AWS_PROFILE and AWS_REGION")
	case optional && ctx.Err() == nil:
		return nil
	}
	return cli.Hint(fmt.Errorf("nobody answers for the region %s: %w", t.Region, awserr.Brief(err)),
		"check AWS_REGION, and that there is a way to AWS from here (proxy, firewall)")
}

// Identity is on whose behalf calls are made; empty for a target that is not [AWS].
func (t *Target) Identity() Identity { return t.who }

// Charged reports whether calls cost money: they go to AWS, under whatever name.
func (t *Target) Charged() bool {
	if t.Name == AWS {
		return true
	}
	u, err := url.Parse(t.Name)
	return err == nil && amazon(u.Hostname())
}

// Within reports whether a queue's URL is of the target's region. The URL of another
// region is answered with a bad signature, or by another queue of the same name.
func (t *Target) Within(queueURL string) error {
	if !strings.Contains(queueURL, "://") {
		return nil // a name
	}
	u, err := parse(queueURL)
	if err != nil {
		return cli.Hint(err, "a queue is named by its name or by its whole URL")
	}
	if !amazon(u.Hostname()) {
		return nil // a host that does not tell
	}
	if t.Name != AWS && !t.Charged() {
		return cli.Hint(fmt.Errorf("the queue %s is of AWS, and the target is %s", queueURL, t.Name), "--target aws is AWS itself")
	}
	labels := strings.Split(u.Hostname(), ".")
	if len(labels) > 2 && labels[0] == "sqs" && labels[1] != t.Region {
		return cli.Hint(fmt.Errorf("the queue %s is in %s, and the configured region is %s", QueueName(queueURL), labels[1], t.Region),
			"set AWS_REGION=%s", labels[1])
	}
	return nil
}

// welcome asks AWS for one page of our queues. What AWS can do is known; whether these
// credentials may ask for it shows here, before a case runs.
func (t *Target) welcome(ctx context.Context, prefix string) error {
	_, err := t.client.ListQueues(ctx, &sqs.ListQueuesInput{QueueNamePrefix: &prefix, MaxResults: aws.Int32(1)})
	if err != nil {
		return explain(fmt.Errorf("asking Amazon SQS in %s for queues: %w", t.Region, awserr.Brief(err)), "check AWS_REGION, and that there is a way to AWS from here")
	}
	return nil
}
