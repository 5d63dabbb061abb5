package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/awserr"
	"fifoproof/internal/budget"
	"fifoproof/internal/clock"
)

// errReplyLost is what a client sees whose reply never arrives.
var errReplyLost = errors.New("the reply was lost on purpose")

// errNeverSent is what a client sees whose request never arrives.
var errNeverSent = errors.New("the request was lost on purpose")

const (
	// wireTries bounds how often a request is made that is answered with throttling or
	// a failure of the server's.
	wireTries = 8
	// wirePause is the pause before the second try; it doubles from there.
	wirePause = 50 * time.Millisecond
	// wirePatience is how long a request may have taken, all tries together, and still be
	// made again: an endpoint may take its time to say that it has failed.
	wirePatience = 30 * time.Second
)

// wire is the witness: it stands between the SDK and the network and notes what
// the endpoint really answered, whoever asked. Consumers hide duplicates, so their
// word alone would prove nothing.
//
// It also is patient with an endpoint that throttles or fails, for the suite and for
// producer and consumer alike; each try is a call of its own in the history, for a
// send that was answered with a failure may have been carried out.
type wire struct {
	next   sqs.HTTPClient
	clock  clock.Clock
	record func(Record)
	origin time.Time // monotonic readings count from here

	mu       sync.Mutex
	evidence *Evidence
	calls    int
	fences   map[string]bool // body digests
	lose     int             // replies to sends still to be lost
	drop     int             // sends still to be lost on their way
}

// on tells the witness of a queue that the run did not make.
func (w *wire) on(o OnQueue) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evidence.use(o)
}

// gave reports whether the endpoint answered a send of this try with a MessageId.
func (w *wire) gave(messageID string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return messageID != "" && slices.ContainsFunc(w.evidence.Sends, func(s Send) bool { return s.MessageID == messageID })
}

// reset begins a try.
func (w *wire) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evidence, w.lose, w.drop = newEvidence(), 0, 0
	w.fences = map[string]bool{}
	if w.origin.IsZero() {
		w.origin = w.clock.Now()
	}
}

// now reads the clock in both ways.
func (w *wire) now() Stamp { return w.stamp(w.clock.Now()) }

func (w *wire) stamp(t time.Time) Stamp {
	return Stamp{Mono: int64(t.Sub(w.origin)), Wall: t.UTC().Round(0)}
}

// impatient marks a context whose requests are made once, whatever is answered.
type impatient struct{}

// Do passes a request on and notes what it did.
func (w *wire) Do(request *http.Request) (*http.Response, error) {
	asked, err := rereadable(&request.Body)
	if err != nil {
		return nil, fmt.Errorf("recording a request: %w", err)
	}
	pause, began := wirePause, w.clock.Now()
	for try := 1; ; try++ {
		request.Body = io.NopCloser(bytes.NewReader(asked))
		answer, call, err := w.do(request, asked)
		busy := awserr.Throttled(call.Code) || call.Status >= http.StatusInternalServerError ||
			call.Status == http.StatusTooManyRequests
		once := request.Context().Value(impatient{}) != nil
		if err != nil || !busy || once || try == wireTries || w.clock.Now().Sub(began) > wirePatience {
			return answer, err
		}
		if err := clock.Sleep(request.Context(), w.clock, pause); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

// do makes one call and notes it.
func (w *wire) do(request *http.Request, asked []byte) (*http.Response, Call, error) {
	action := request.Header.Get("X-Amz-Target")
	_, action, _ = strings.Cut(action, ".")
	call := Call{Action: action, Start: w.now()}
	isSend := strings.HasPrefix(action, callSend)
	if isSend && w.take(&w.drop) {
		call.NeverSent = true
		return nil, call, errors.Join(errNeverSent, w.note(call, asked, nil))
	}
	answer, err := w.next.Do(request)
	if _, spent := errors.AsType[*budget.SpentError](err); spent {
		return nil, call, err // no request left, so there is none to note
	}
	if err != nil {
		return nil, call, errors.Join(err, w.note(call, asked, nil))
	}
	told, err := rereadable(&answer.Body)
	if err != nil {
		return nil, call, errors.Join(fmt.Errorf("reading the answer to %s: %w", action, err), w.note(call, asked, nil))
	}
	end := w.now()
	call.End, call.Status = &end, answer.StatusCode
	call.KeptBack = isSend && answer.StatusCode == http.StatusOK && w.take(&w.lose)
	if answer.StatusCode != http.StatusOK {
		call.Code = errorCode(answer.Header, told)
	}
	if err := w.note(call, asked, told); err != nil {
		return nil, call, err
	}
	if call.KeptBack {
		return nil, call, errReplyLost
	}
	return answer, call, nil
}

// note reads a call and takes it down.
func (w *wire) note(call Call, asked, told []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := call.read(asked, told, w.fences)
	w.calls++
	call.N = w.calls
	w.evidence.note(call)
	w.record(Record{Call: &call})
	if err != nil {
		// A request of the SDK's always reads; an answer may not, and says nothing then.
		return fmt.Errorf("recording the answer to %s: %w", call.Action, err)
	}
	return nil
}

// take counts one down, if there is any.
func (w *wire) take(count *int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if *count == 0 {
		return false
	}
	*count--
	return true
}

// loseNext makes the reply to the next send vanish after the endpoint gave it.
func (w *wire) loseNext() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose++
}

// dropNext makes the next send vanish on its way to the endpoint.
func (w *wire) dropNext() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop++
}

// fence tells the witness that body is a fence, before it is sent.
func (w *wire) fence(body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fences[digestOf(body)] = true
}

// sends is how many attempts to send were made so far.
func (w *wire) sends() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.evidence.Sends)
}

// send is the i-th attempt to send.
func (w *wire) send(i int) Send {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.evidence.Sends[i]
}

// lastReply is the number of the latest reply to a ReceiveMessage.
func (w *wire) lastReply() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.evidence.replies
}

// seen is a copy of the deliveries of one queue so far.
func (w *wire) seen(queue string) []Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Delivery
	for _, d := range w.evidence.Deliveries {
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

// withoutPatience is a context whose requests the wire does not repeat.
func withoutPatience(ctx context.Context) context.Context {
	return context.WithValue(ctx, impatient{}, true)
}
