package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/emulator"
	"fifoproof/internal/target"
)

const queue = "bench.fifo"

// endpoint is a running 'fifoproof serve --clock real' with one queue.
type endpoint struct {
	process  *exec.Cmd
	url      string
	queueURL string
	client   *sqs.Client
}

// startEndpoint starts the program and waits until it listens.
func startEndpoint(ctx context.Context, program string) (*endpoint, error) {
	process := exec.CommandContext(ctx, program, "serve", "--clock", "real", "--addr", "127.0.0.1:0", "--queue", queue)
	process.Stderr = io.Discard
	out, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	e := &endpoint{process: process}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, found := strings.CutPrefix(lines.Text(), "export AWS_ENDPOINT_URL="); found {
			e.url = url
		}
		if url, found := strings.CutPrefix(lines.Text(), "# queue: "); found {
			e.queueURL = url
			break
		}
	}
	if e.queueURL == "" {
		return nil, errors.Join(fmt.Errorf("%s serve did not say where it listens", program), e.stop())
	}
	if e.client, _, err = target.Client(ctx, target.Options{Endpoint: e.url}); err != nil {
		return nil, errors.Join(err, e.stop())
	}
	return e, nil
}

// stop ends the program and waits for it.
func (e *endpoint) stop() error {
	if err := e.process.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the endpoint: %w", err)
	}
	if err := e.process.Wait(); err != nil {
		return fmt.Errorf("the endpoint ended: %w", err)
	}
	return nil
}

// answerLate lets the endpoint answer every request from now on so much later.
func (e *endpoint) answerLate(ctx context.Context, by time.Duration) error {
	if by <= 0 {
		return nil
	}
	order := fmt.Sprintf(`{"effect":%q,"by":%q,"times":%d}`, emulator.DelayReply, by, 1<<40)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+emulator.DisturbPath, strings.NewReader(order))
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("asking the endpoint to answer late: %w", err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(reply.Body, 1000))
		return fmt.Errorf("asking the endpoint to answer late: %s: %s", reply.Status, text)
	}
	return nil
}

// left is how many messages are in the queue, those in flight included.
func (e *endpoint) left(ctx context.Context) (int, error) {
	visible, hidden := types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible
	reply, err := e.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &e.queueURL, AttributeNames: []types.QueueAttributeName{visible, hidden},
	})
	if err != nil {
		return 0, fmt.Errorf("asking how many messages are left: %w", err)
	}
	sum := 0
	for _, name := range []types.QueueAttributeName{visible, hidden} {
		n, err := strconv.Atoi(reply.Attributes[string(name)])
		if err != nil {
			return 0, fmt.Errorf("asking how many messages are left: %w", err)
		}
		sum += n
	}
	return sum, nil
}

// fill sends the messages with the producer, as it would on any day.
func (p plan) fill(ctx context.Context, e *endpoint, messages int) error {
	process := exec.CommandContext(ctx, filepath.Join(p.bin, "producer"), //nolint:gosec // the user named the folder
		"--endpoint", e.url, "--queue", queue, "--group-pointer", "/group", "--quiet")
	process.Env = append(os.Environ(), region)
	in, err := process.StdinPipe()
	if err != nil {
		return err
	}
	var talk strings.Builder
	process.Stderr = &talk
	if err := process.Start(); err != nil {
		return fmt.Errorf("starting the producer: %w", err)
	}
	writing := writeBodies(in, messages, p.groups, p.body)
	if err := process.Wait(); err != nil {
		return fmt.Errorf("the producer ended: %w: %s", err, talk.String())
	}
	if writing != nil {
		return fmt.Errorf("giving bodies to the producer: %w", writing)
	}
	n, err := e.left(ctx)
	if err == nil && n != messages {
		err = fmt.Errorf("%d messages are in the queue, not %d", n, messages)
	}
	return err
}

const region = "AWS_REGION=" + emulator.Region

// writeBodies writes JSON objects of size bytes each, no two alike, a line each.
func writeBodies(to io.WriteCloser, messages, groups, size int) error {
	out := bufio.NewWriterSize(to, 1<<16)
	for n := range messages {
		text := body(n, groups, size)
		if _, err := out.WriteString(text + "\n"); err != nil {
			return errors.Join(err, to.Close())
		}
	}
	return errors.Join(out.Flush(), to.Close())
}

func body(n, groups, size int) string {
	text := fmt.Sprintf(`{"event":%d,"group":"customer-%03d","text":"`, n, n%groups)
	return text + strings.Repeat("x", max(size-len(text)-2, 0)) + `"}`
}

// maxBatch is the most messages of one call (API reference, ReceiveMessage).
const maxBatch = 10

// bare is a loop that receives and deletes, with nothing in between.
type bare struct{ loops int }

func (b bare) name() string {
	if b.loops == 1 {
		return "bare SDK loop"
	}
	return fmt.Sprintf("%d bare SDK loops", b.loops)
}

func (b bare) drain(ctx context.Context, e *endpoint, messages int) (result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	deleted := make(chan int)
	begun := time.Now()
	for range b.loops {
		go func() {
			for ctx.Err() == nil {
				n, err := e.takeOne(ctx)
				if err != nil {
					cancel(err)
					return
				}
				select {
				case deleted <- n:
				case <-ctx.Done():
				}
			}
		}()
	}
	for sum := 0; sum < messages; {
		select {
		case n := <-deleted:
			sum += n
		case <-ctx.Done():
			return result{}, context.Cause(ctx)
		}
	}
	return result{took: time.Since(begun)}, nil
}

// takeOne receives and deletes one reply.
func (e *endpoint) takeOne(ctx context.Context) (int, error) {
	reply, err := e.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &e.queueURL, MaxNumberOfMessages: maxBatch, WaitTimeSeconds: 1,
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil || len(reply.Messages) == 0 {
		return 0, err
	}
	entries := make([]types.DeleteMessageBatchRequestEntry, len(reply.Messages))
	for i, m := range reply.Messages {
		entries[i] = types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle}
	}
	gone, err := e.client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &e.queueURL, Entries: entries})
	if err != nil {
		return 0, err
	}
	if len(gone.Failed) > 0 {
		return 0, fmt.Errorf("%d messages were not deleted: %s", len(gone.Failed), aws.ToString(gone.Failed[0].Message))
	}
	return len(gone.Successful), nil
}
