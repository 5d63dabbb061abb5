package deadletter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/receipt"
)

// By whom a [Source] was told.
const (
	ByQueue    = "the queue"        // in the attribute DeadLetterQueueSourceArn
	ByReceipts = "the receipts"     // of the consumers that received it
	ByPolicy   = "redrive policies" // one queue only has this one as its dead-letter queue
)

// Source is the queue that a message came from. The zero value is one that is not known.
type Source struct {
	Name, ARN string
	By        string
}

// errUnknown says that nobody tells where a message came from.
var errUnknown = errors.New("its source queue is not known")

// sources finds the queues that messages came from, and asks once for each.
type sources struct {
	queue Queue
	url   string // of the dead-letter queue
	arn   string
	log   *slog.Logger

	asked bool
	only  string // the one queue that names this one in its redrive policy; "" for none or several
	urls  map[string]found
}

// found is the answer to where a source is.
type found struct {
	url string
	err error
}

// of is the source of a message: as the queue tells, else as the receipts do, else the
// only one there is.
func (s *sources) of(ctx context.Context, told string, records []receipt.Receipt) Source {
	switch {
	case told != "":
		return Source{Name: arnName(told), ARN: told, By: ByQueue}
	case len(records) > 0:
		name := records[len(records)-1].Queue
		return Source{Name: name, ARN: s.sibling(name), By: ByReceipts}
	}
	if !s.asked {
		s.asked = true
		s.only = s.ask(ctx)
	}
	if s.only == "" {
		return Source{}
	}
	return Source{Name: s.only, ARN: s.sibling(s.only), By: ByPolicy}
}

// ask lists the queues whose dead-letter queue this one is.
func (s *sources) ask(ctx context.Context) (only string) {
	const enough = 2
	answer, err := s.queue.ListDeadLetterSourceQueues(ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &s.url, MaxResults: aws.Int32(enough)})
	switch {
	case err != nil:
		s.log.Warn("the sources of the dead-letter queue could not be listed", slog.String("queue", queueName(s.url)), slog.Any("error", awserr.Brief(err)))
		return ""
	case len(answer.QueueUrls) != 1 || answer.NextToken != nil:
		return ""
	}
	return queueName(answer.QueueUrls[0])
}

// find is the URL of a source.
func (s *sources) find(ctx context.Context, source Source) (string, error) {
	if source.Name == "" {
		return "", errUnknown
	}
	known, asked := s.urls[source.ARN]
	if !asked {
		known = s.lookUp(ctx, source)
		if ctx.Err() == nil {
			s.urls[source.ARN] = known
		}
	}
	return known.url, known.err
}

func (s *sources) lookUp(ctx context.Context, source Source) found {
	in := &sqs.GetQueueUrlInput{QueueName: &source.Name}
	if account := arnPart(source.ARN, arnAccount); account != arnPart(s.arn, arnAccount) {
		in.QueueOwnerAWSAccountId = &account
	}
	answer, err := s.queue.GetQueueUrl(ctx, in)
	if _, gone := errors.AsType[*types.QueueDoesNotExist](err); gone {
		return found{err: fmt.Errorf("its source queue %s does not exist", source.Name)}
	}
	if err != nil {
		return found{err: fmt.Errorf("looking up its source queue %s: %w", source.Name, awserr.Brief(err))}
	}
	return found{url: aws.ToString(answer.QueueUrl)}
}

// Parts of an ARN (arn:aws:sqs:REGION:ACCOUNT:NAME).
const (
	arnAccount = 4
	arnQueue   = 5
)

func arnPart(arn string, part int) string {
	if parts := strings.Split(arn, ":"); part < len(parts) {
		return parts[part]
	}
	return ""
}

func arnName(arn string) string { return arnPart(arn, arnQueue) }

// sibling is the ARN of a queue of the dead-letter queue's own account and region, which
// a source has to be of (developer guide, "dead-letter queues").
func (s *sources) sibling(name string) string {
	return strings.TrimSuffix(s.arn, arnName(s.arn)) + name
}
