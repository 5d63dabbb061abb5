package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/cli"
	"fifoproof/internal/window"
)

// What permits a run on a queue that it did not make.
const (
	PermitTag    = "fifoproof:permit"
	PermitVerify = "verify"
)

// Given is a queue that was there before the run and stays as it is. Others may read
// it, so nothing that fails to arrive proves anything there: what is judged is what the
// endpoint answers, and what comes though it must not.
type Given struct {
	URL   string
	Scope window.Scope
}

// longestDelay of a given queue: with a longer one the run could not collect its own
// messages within the polls that it makes.
const longestDelay = 15 * time.Second

// Admit looks whether a run may use a queue, and changes nothing about it: a tag must
// permit it, it must be a FIFO queue, and nobody's messages may be in it.
func Admit(ctx context.Context, client *sqs.Client, queueURL string) (*Given, error) {
	tags, err := client.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &queueURL})
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("reading the tags of the queue %s: %w", queueURL, awserr.Brief(err)), "a run on a queue that exists needs its tag %s=%s", PermitTag, PermitVerify)
	}
	if tags.Tags[PermitTag] != PermitVerify {
		return nil, cli.Hint(fmt.Errorf("the queue %s does not permit a run: it has no tag %s=%s", queueURL, PermitTag, PermitVerify),
			"whoever owns it can permit one: aws sqs tag-queue --queue-url %s --tags %s=%s", queueURL, PermitTag, PermitVerify)
	}
	read, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &queueURL, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return nil, fmt.Errorf("reading the attributes of the queue %s: %w", queueURL, awserr.Brief(err))
	}
	return admitted(queueURL, read.Attributes)
}

func admitted(queueURL string, has map[string]string) (*Given, error) {
	if has[string(types.QueueAttributeNameFifoQueue)] != enabled {
		return nil, fmt.Errorf("the queue %s is no FIFO queue", queueURL)
	}
	var in []string
	for _, c := range []struct {
		name types.QueueAttributeName
		word string
	}{
		{types.QueueAttributeNameApproximateNumberOfMessages, "waiting"},
		{types.QueueAttributeNameApproximateNumberOfMessagesNotVisible, "in flight"},
		{types.QueueAttributeNameApproximateNumberOfMessagesDelayed, "delayed"},
	} {
		n, err := strconv.Atoi(has[string(c.name)])
		if err != nil {
			return nil, fmt.Errorf("the queue %s does not tell its %s", queueURL, c.name)
		}
		if n != 0 {
			in = append(in, fmt.Sprintf("%d %s", n, c.word))
		}
	}
	if len(in) > 0 {
		return nil, cli.Hint(fmt.Errorf("the queue %s is in use: %s", queueURL, strings.Join(in, ", ")),
			"a run starts only where nothing is in the queue; the counters follow within a minute")
	}
	delay, err := strconv.Atoi(has[string(types.QueueAttributeNameDelaySeconds)])
	if late := time.Duration(delay) * time.Second; err == nil && late > longestDelay {
		return nil, cli.Hint(fmt.Errorf("the queue %s delays every message by %s", queueURL, late), "at most %s lets a run collect its own messages", longestDelay)
	}
	g := &Given{URL: queueURL}
	if text := has[string(types.QueueAttributeNameDeduplicationScope)]; text != "" {
		if g.Scope, err = window.ParseScope(text); err != nil {
			return nil, fmt.Errorf("the queue %s: %w", queueURL, err)
		}
	}
	return g, nil
}

// askable are the cases that a given queue can be asked: they need none of its settings,
// touch no message but their own, and rest on answers, or on a copy too many.
var askable = []string{
	"batch/entries/after-single", "batch/entries/before-single", "lifecycle/resend/after-delete",
	"validate/id/empty", "validate/id/too-long", "validate/id/space",
	"validate/group/empty", "validate/group/too-long", "validate/group/space", "validate/group/missing",
	"validate/delay/per-message", "validate/body/empty",
	"response/duplicate/message-id", "response/duplicate/sequence-number", "response/duplicate/body-md5",
	"response/duplicate/attributes-md5", "response/send/distinct-message-ids",
	"response/send/body-md5", "response/send/attributes-md5", "response/batch/body-md5",
	"response/receive/body-md5", "response/receive/attributes-md5",
}

// withOnQueue marks the cases that a given queue can be asked.
func withOnQueue(cases []Case) []Case {
	for i := range cases {
		cases[i].OnQueue = slices.Contains(askable, cases[i].ID)
	}
	return cases
}

// offQueue says why the case is not run on a given queue.
func (c Case) offQueue() string {
	switch {
	case c.Needs != "":
		return "needs queues of its own with the capability " + string(c.Needs)
	case c.Wait > 0:
		return "waits, and what has not come by then proves nothing on a queue that others may read"
	}
	return "needs a queue with settings of its own, or rests on what does not arrive"
}

// OnQueue is how a case uses a given queue.
type OnQueue struct {
	Queue  string `json:"queue"`              // URL
	Scope  string `json:"scope"`              // as the attribute DeduplicationScope has it
	Hidden int    `json:"visibility_seconds"` // of each of its receives
	Prefix string `json:"prefix"`             // of the groups and ids of the case
}

// sharedNone is the reason of a case that a given queue can only speak against.
const sharedNone = "nothing speaks against it, and what does not come proves nothing here: another consumer may have taken it"

// shared weighs a finding of a given queue: what rests on an absence is open there. It
// is no open question to the exit code where nothing was missed.
func (f finding) shared() finding {
	if !f.byAbsence {
		return f
	}
	f.shares = f.verdict == Pass
	if f.verdict == Fail {
		f.reason += ": another consumer may have taken it"
	} else {
		f.reason = sharedNone
	}
	f.verdict, f.byAbsence = Inconclusive, false
	return f
}

// foreignError says that a message of somebody else came on a given queue.
type foreignError struct {
	queue, message string
	back           error // of giving it back
}

func (e *foreignError) Error() string {
	text := fmt.Sprintf("a message of somebody else (%s) came on the queue %s, and was made visible again at once", e.message, e.queue)
	if e.back != nil {
		return fmt.Sprintf("a message of somebody else (%s) came on the queue %s, and could not be given back: %v", e.message, e.queue, e.back)
	}
	return text
}

func (e *foreignError) Unwrap() error { return e.back }

// Foreign reports whether err is of a message that was somebody else's.
func Foreign(err error) bool {
	_, is := errors.AsType[*foreignError](err)
	return is
}

// mine is a name for a group or an id of the case on a given queue, where names of a
// case must be like no others. Elsewhere it is the name itself.
func (q *queue) mine(name *string) *string {
	if q.given == nil || aws.ToString(name) == "" {
		return name
	}
	return aws.String(q.bench.prefix() + *name)
}

// prefix begins every group and id of the case on a given queue.
func (b *Bench) prefix() string { return b.name + "-" }

// onGiven begins a try on the given queue.
func (b *Bench) onGiven() {
	g := b.setup.Given
	if g == nil {
		return
	}
	on := OnQueue{Queue: g.URL, Scope: g.Scope.String(), Hidden: int(visibility / time.Second), Prefix: b.prefix()}
	b.wire.on(on)
	b.record(Record{On: &on})
}

// own sorts the messages that a receive on a given queue brought. Those of the case are
// returned; those of other cases of the run are deleted; of anybody else's, each is made
// visible again at once, and the run is over.
func (q *queue) own(ctx context.Context, messages []types.Message) ([]types.Message, error) {
	if q.given == nil {
		return messages, nil
	}
	b := q.bench
	var own, earlier []types.Message
	var foreign *foreignError
	for _, m := range messages {
		id := aws.ToString(m.MessageId)
		group := m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]
		switch {
		case strings.HasPrefix(group, b.prefix()), b.wire.gave(id):
			own = append(own, m)
			q.held[aws.ToString(m.ReceiptHandle)] = m
		case strings.HasPrefix(group, QueuePrefix+b.setup.Run+"-"):
			earlier = append(earlier, m)
		default:
			back := q.hide(context.WithoutCancel(ctx), m, 0)
			if foreign == nil || foreign.back == nil {
				foreign = &foreignError{queue: q.url, message: id, back: back}
			}
		}
	}
	if err := q.remove(ctx, earlier); err != nil {
		return nil, err
	}
	if foreign != nil {
		// What came of the case's own must not stay in the way of the queue's readers.
		err := q.remove(context.WithoutCancel(ctx), own)
		if b.setup.Foreign != nil {
			b.setup.Foreign(foreign)
		}
		return nil, errors.Join(foreign, err)
	}
	return own, nil
}

// collect takes the case's messages out of the given queue, as far as they come.
func (q *queue) collect(ctx context.Context) error {
	// What is still in the case's hands keeps its group locked. A handle that is refused
	// was of a receive that is over.
	for _, m := range q.held {
		if err := q.remove(ctx, []types.Message{m}); err != nil && refused(err) == "" {
			return err
		}
	}
	fenced, err := q.settle(ctx)
	if err == nil && !fenced {
		err = premise("its own messages did not all come back: another consumer may have taken them")
	}
	return err
}

// collectAll does so for every given queue of the bench.
func (b *Bench) collectAll(ctx context.Context) error {
	for _, q := range b.queues {
		if q.given != nil && len(q.groups) > 0 {
			if err := q.collect(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// keeper stands before a given queue: whatever a case might try, nothing leaves that
// would delete, purge or change it.
type keeper struct{ next sqs.HTTPClient }

// harmless are the actions that a run on a given queue may call.
var harmless = []string{
	callSend, callSendBatch, callReceive, callDelete, "ChangeMessageVisibility", callSettings, "GetQueueUrl",
}

// Do passes a request on, if it can do no harm.
func (k keeper) Do(request *http.Request) (*http.Response, error) {
	_, action, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	if !slices.Contains(harmless, action) {
		return nil, fmt.Errorf("a run on a queue that it did not make never calls %q", action)
	}
	return k.next.Do(request)
}
