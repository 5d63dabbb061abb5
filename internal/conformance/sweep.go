package conformance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/awserr"
)

// What marks a queue of a run.
const (
	// QueuePrefix begins the name of every queue that a run makes.
	QueuePrefix = "fifoproof-"
	// RunTag names the run that made the queue.
	RunTag = "fifoproof:run"
	// ExpiresTag is when that run is surely over (RFC 3339, UTC).
	ExpiresTag = "fifoproof:expires"
)

// Leftover is a queue that a run may have left behind.
type Leftover struct {
	Name string
	URL  string
	Run  string    // as its tag says; "" without one
	Ends time.Time // when that run is surely over; zero where no tag says
	Dead bool      // its run is over, or was named
	Why  string    // why it is kept, where it is not Dead
}

// Leftovers lists the queues whose names begin with [QueuePrefix], and tells which
// belong to runs that are over at now, or to the run that is named, if one is. Only a
// queue with both tags is ever taken for one of ours.
func Leftovers(ctx context.Context, client *sqs.Client, now time.Time, run string) ([]Leftover, error) {
	var found []Leftover
	pages := sqs.NewListQueuesPaginator(client, &sqs.ListQueuesInput{
		QueueNamePrefix: aws.String(QueuePrefix), MaxResults: aws.Int32(1000),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("listing the queues: %w", awserr.Brief(err))
		}
		for _, url := range page.QueueUrls {
			l := Leftover{Name: path.Base(url), URL: url}
			if !strings.HasPrefix(l.Name, QueuePrefix) {
				continue // an endpoint that does not filter
			}
			tags, err := client.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})
			if err != nil {
				if refused(err) == "" {
					return nil, fmt.Errorf("reading the tags of %s: %w", url, awserr.Brief(err))
				}
				l.Why = "its tags cannot be read: " + refused(err)
				found = append(found, l)
				continue
			}
			l.read(tags.Tags, now, run)
			found = append(found, l)
		}
	}
	return found, nil
}

func (l *Leftover) read(tags map[string]string, now time.Time, run string) {
	l.Run = tags[RunTag]
	ends, err := time.Parse(time.RFC3339, tags[ExpiresTag])
	switch {
	case l.Run == "":
		l.Why = "it has no tag " + RunTag
	case !strings.HasPrefix(l.Name, QueuePrefix+l.Run+"-"):
		l.Why = "its name is none of the run that its tag names"
	case err != nil:
		l.Why = "it has no tag " + ExpiresTag + " that can be read"
	case run != "" && run != l.Run:
		l.Ends, l.Why = ends, "it belongs to another run"
	case run == "" && now.Before(ends):
		l.Ends, l.Why = ends, "its run may be alive until "+ends.Format(time.RFC3339)
	default:
		l.Ends, l.Dead = ends, true
	}
}

// Sweep deletes the leftovers that are dead.
func Sweep(ctx context.Context, client *sqs.Client, leftovers []Leftover) (deleted int, err error) {
	for _, l := range leftovers {
		if !l.Dead {
			continue
		}
		if _, gone := client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &l.URL}); gone != nil {
			err = errors.Join(err, fmt.Errorf("deleting %s: %w", l.URL, awserr.Brief(gone)))
			continue
		}
		deleted++
	}
	return deleted, err
}
