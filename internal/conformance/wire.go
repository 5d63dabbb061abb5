package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/clock"
	"fifoproof/internal/window"
)

// errReplyLost is what a client sees whose reply never arrives.
var errReplyLost = errors.New("the reply was lost on purpose")

// wire is the witness: it stands between the SDK and the network and notes what
// the endpoint really answered, whoever asked. Consumers hide duplicates, so their
// word alone would prove nothing.
type wire struct {
	next  sqs.HTTPClient
	clock clock.Clock

	mu         sync.Mutex
	deliveries []Delivery
	deletions  []Deletion
	fences     map[string]bool // body digests
	replies    int
	visibility time.Duration // of the queues under test
	lose       int           // send replies still to be lost
	failure    error         // the first answer that could not be understood
}

// Do passes a request on and notes what it did.
func (w *wire) Do(request *http.Request) (*http.Response, error) {
	action := request.Header.Get("X-Amz-Target")
	_, action, _ = strings.Cut(action, ".")
	asked, err := rereadable(&request.Body)
	if err != nil {
		return nil, fmt.Errorf("recording the request %s: %w", action, err)
	}
	start := w.clock.Now()
	answer, err := w.next.Do(request)
	if err != nil {
		return nil, err
	}
	told, err := rereadable(&answer.Body)
	if err != nil {
		return nil, fmt.Errorf("recording the answer to %s: %w", action, err)
	}
	at := window.Interval{Start: start, End: w.clock.Now()}

	w.mu.Lock()
	defer w.mu.Unlock()
	if answer.StatusCode == http.StatusOK {
		if err := w.note(action, asked, told, at); err != nil && w.failure == nil {
			w.failure = fmt.Errorf("recording the answer to %s: %w", action, err)
		}
	}
	if w.lose > 0 && strings.HasPrefix(action, "SendMessage") {
		w.lose--
		return nil, errReplyLost
	}
	return answer, nil
}

// note records one answered call.
func (w *wire) note(action string, asked, told []byte, at window.Interval) error {
	switch action {
	case "ReceiveMessage":
		return w.noteReceive(asked, told, at)
	case "DeleteMessage":
		var request struct{ ReceiptHandle string }
		if err := json.Unmarshal(asked, &request); err != nil {
			return err
		}
		w.deletions = append(w.deletions, Deletion{Handle: request.ReceiptHandle, At: at})
	case "DeleteMessageBatch":
		var request struct {
			Entries []struct{ Id, ReceiptHandle string } //nolint:revive // the field is called Id on the wire
		}
		var reply struct{ Successful []struct{ Id string } } //nolint:revive // as above
		if err := errors.Join(json.Unmarshal(asked, &request), json.Unmarshal(told, &reply)); err != nil {
			return err
		}
		handles := map[string]string{}
		for _, entry := range request.Entries {
			handles[entry.Id] = entry.ReceiptHandle
		}
		for _, done := range reply.Successful {
			w.deletions = append(w.deletions, Deletion{Handle: handles[done.Id], At: at})
		}
	}
	return nil
}

func (w *wire) noteReceive(asked, told []byte, at window.Interval) error {
	var request struct {
		QueueUrl          string //nolint:revive // as on the wire
		VisibilityTimeout *int
	}
	var reply struct {
		Messages []struct {
			MessageId, ReceiptHandle, Body string //nolint:revive // as on the wire
			Attributes                     map[string]string
		}
	}
	if err := errors.Join(json.Unmarshal(asked, &request), json.Unmarshal(told, &reply)); err != nil {
		return err
	}
	hidden := w.visibility
	if request.VisibilityTimeout != nil {
		hidden = time.Duration(*request.VisibilityTimeout) * time.Second
	}
	w.replies++
	for _, m := range reply.Messages {
		digest := digestOf(m.Body)
		w.deliveries = append(w.deliveries, Delivery{
			Queue:      request.QueueUrl,
			MessageID:  m.MessageId,
			ID:         m.Attributes["MessageDeduplicationId"],
			Group:      m.Attributes["MessageGroupId"],
			Sequence:   m.Attributes["SequenceNumber"],
			BodyDigest: digest,
			Fence:      w.fences[digest],
			Handle:     m.ReceiptHandle,
			Reply:      w.replies,
			At:         at,
			Visibility: hidden,
		})
	}
	return nil
}

// loseNext makes the reply to the next send vanish after the endpoint gave it.
func (w *wire) loseNext() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose++
}

// fence tells the witness that body is a fence, before it is sent.
func (w *wire) fence(body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fences[digestOf(body)] = true
}

// lastReply is the number of the latest reply to a ReceiveMessage.
func (w *wire) lastReply() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replies
}

// seen is a copy of the deliveries of one queue so far.
func (w *wire) seen(queue string) []Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Delivery
	for _, d := range w.deliveries {
		if d.Queue == queue {
			out = append(out, d)
		}
	}
	return out
}

func digestOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// rereadable reads *body whole and puts a fresh reader in its place.
func rereadable(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	content, err := io.ReadAll(*body)
	err = errors.Join(err, (*body).Close())
	*body = io.NopCloser(bytes.NewReader(content))
	return content, err
}

// forget drops the deliveries seen so far.
func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deliveries = nil
}
