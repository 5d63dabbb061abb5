package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/conformance"
	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/sqlite"
	"fifoproof/internal/target"
)

// fields are those of a request or an answer.
type fields = map[string]any

// middleman stands before the endpoint and spoils requests or answers, as endpoints do
// that keep an attribute and do not act on it, or that check less than they should.
type middleman struct {
	next sqs.HTTPClient
	ask  func(action string, body fields) (done bool) // done: answered with nothing, not passed on
	tell func(action string, body fields)             // of a success
	lax  bool                                         // answers every batch with success
}

func (m middleman) Do(request *http.Request) (*http.Response, error) {
	_, action, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	text, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	if m.ask != nil {
		body := fields{}
		if err := json.Unmarshal(text, &body); err != nil {
			return nil, err
		}
		if m.ask(action, body) {
			return answered(request, fields{}), nil
		}
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	answer, err := m.next.Do(request)
	switch {
	case err != nil:
		return nil, err
	case m.lax && action == "SendMessageBatch" && answer.StatusCode != http.StatusOK:
		return answered(request, fields{}), nil
	case m.tell == nil || answer.StatusCode != http.StatusOK || !slices.Contains([]string{"ReceiveMessage", "SendMessageBatch", "GetQueueAttributes"}, action):
		return answer, nil
	}
	body := fields{}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return nil, err
	}
	m.tell(action, body)
	return answered(request, body), nil
}

func answered(request *http.Request, body fields) *http.Response {
	text, _ := json.Marshal(body)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: request,
	}
}

// each calls change for the members of a list of a body.
func each(body fields, list string, change func(fields)) {
	members, _ := body[list].([]any)
	for _, m := range members {
		change(m.(fields))
	}
}

// dropping is an endpoint that takes an attribute and does not keep it.
func dropping(name string) middleman {
	return middleman{ask: func(action string, body fields) bool {
		attributes, _ := body["Attributes"].(fields)
		_, has := attributes[name]
		delete(attributes, name)
		return has && action == "SetQueueAttributes" && len(attributes) == 0
	}}
}

// TestAnswersAreHeldAgainstTheirSource shows that the cases which read answers, limits
// and attributes can fail: each spoiled endpoint is caught by the cases named here, and
// by no other of those that ran.
func TestAnswersAreHeldAgainstTheirSource(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		by     middleman
		cases  []string
		caught []string
	}{
		{"no delay", dropping("DelaySeconds"), []string{"lifecycle/delay"}, []string{
			"lifecycle/delay/queue", "lifecycle/delay/zero",
		}},
		{"no limit of its own", dropping("MaximumMessageSize"), []string{"batch", "lifecycle/refused"}, []string{
			"batch/limit/entry-size", "batch/limit/refused-entry-then-valid", "batch/partial/rest-delivered", "lifecycle/refused/then-valid",
		}},
		{"messages for ever", dropping("MessageRetentionPeriod"), []string{"lifecycle/retention"}, []string{
			"lifecycle/retention/expires", "lifecycle/retention/outlived",
		}},
		{"no visibility timeout of its own", dropping("VisibilityTimeout"), []string{"lifecycle/visibility"}, []string{
			"lifecycle/visibility/queue-attribute",
		}},
		{
			"attributes that are set once and for all",
			middleman{ask: func(action string, _ fields) bool { return action == "SetQueueAttributes" }},
			[]string{"scope/set", "scope/limit", "content/toggle", "lifecycle/delay/retroactive"},
			[]string{"scope/limit/set-alone", "scope/set/fifo-queue-false", "content/toggle/reads-back", "content/toggle/off", "lifecycle/delay/retroactive"},
		},
		{"attributes that read back otherwise", middleman{tell: func(_ string, body fields) {
			attributes, _ := body["Attributes"].(fields)
			for name := range attributes {
				attributes[name] = "other"
			}
		}}, []string{"scope/set", "scope/limit", "scope/queue", "content/hash", "content/toggle/reads-back"}, []string{
			"scope/queue/defaults-read-back", "scope/limit/set-alone", "scope/set/fifo-queue-false", "scope/set/fifo-queue-true",
			"content/hash/off-by-default", "content/toggle/reads-back",
		}},
		{"batches from the last entry", middleman{ask: func(_ string, body fields) bool {
			entries, _ := body["Entries"].([]any)
			slices.Reverse(entries)
			return false
		}}, []string{"batch/entries", "batch/limit"}, []string{
			"batch/entries/across-batches", "batch/entries/order", "batch/limit/entry-size",
		}},
		{"batches that are never refused", middleman{lax: true}, []string{"batch"}, []string{
			"batch/limit/too-many", "batch/limit/empty", "batch/limit/total-size",
			"batch/entry-id/repeated", "batch/entry-id/empty", "batch/entry-id/too-long", "batch/entry-id/invalid",
			"batch/entry/no-id", "batch/entry/no-id-whole", "batch/entry/no-group", "batch/entry/bad-id",
		}},
		{"batches cut at ten", middleman{ask: func(_ string, body fields) bool {
			if entries, _ := body["Entries"].([]any); len(entries) > 10 {
				body["Entries"] = entries[:10]
			}
			return false
		}}, []string{"batch/limit"}, []string{"batch/limit/too-many"}},
		{"ids for entries that have none", middleman{ask: func(_ string, body fields) bool {
			each(body, "Entries", func(entry fields) {
				if entry["MessageDeduplicationId"] == nil {
					entry["MessageDeduplicationId"] = "made"
				}
			})
			return false
		}}, []string{"batch/entry"}, []string{"batch/entry/no-id", "batch/entry/no-id-whole"}},
		{"delays of messages ignored", middleman{ask: func(_ string, body fields) bool {
			delete(body, "DelaySeconds")
			each(body, "Entries", func(entry fields) { delete(entry, "DelaySeconds") })
			return false
		}}, []string{"batch/entry", "lifecycle/refused"}, []string{"batch/entry/delay", "lifecycle/refused/then-valid"}},
		{
			"failed entries kept quiet",
			middleman{tell: func(_ string, body fields) { delete(body, "Failed") }},
			[]string{"batch/limit", "batch/entry"},
			[]string{"batch/limit/entry-size", "batch/limit/refused-entry-then-valid", "batch/entry/delay"},
		},
		{"failed entries as the server's fault", middleman{tell: func(_ string, body fields) {
			each(body, "Failed", func(entry fields) { entry["SenderFault"] = false })
		}}, []string{"batch/limit", "batch/entry"}, []string{
			"batch/limit/entry-size", "batch/limit/refused-entry-then-valid", "batch/entry/delay",
		}},
		{"a new MessageId with every receive", middleman{tell: func(_ string, body fields) {
			each(body, "Messages", func(m fields) { m["MessageId"] = m["ReceiptHandle"] })
		}}, []string{"lifecycle/visibility", "lifecycle/resend/after-redelivery"}, []string{
			"lifecycle/resend/after-redelivery", "lifecycle/visibility/redelivered-not-duplicate", "lifecycle/visibility/queue-attribute",
		}},
		{"a zero delay refused", middleman{ask: func(_ string, body fields) bool {
			if delay, given := body["DelaySeconds"]; given && delay == 0.0 {
				body["DelaySeconds"] = 1
			}
			return false
		}}, []string{"lifecycle/delay"}, []string{"lifecycle/delay/zero"}},
		{"JSON without white space", middleman{ask: func(_ string, body fields) bool {
			if text, ok := body["MessageBody"].(string); ok {
				body["MessageBody"] = strings.ReplaceAll(text, ", ", ",")
			}
			return false
		}}, []string{"content/hash"}, []string{"content/hash/spacing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			catalogue := conformance.Catalogue()
			selected, err := conformance.Select(catalogue, tt.cases)
			require.NoError(t, err)
			cases, _ := conformance.Close(catalogue, selected)
			var caught []string
			for _, r := range run(t, cases, behind(t, tt.by)).Cases {
				if r.Verdict != conformance.Pass && r.Verdict != conformance.Noted {
					caught = append(caught, r.ID)
					require.Contains(t, []conformance.Verdict{conformance.Fail, conformance.NonStrict}, r.Verdict, r.ID)
				}
			}
			require.Equal(t, tt.caught, caught)
		})
	}
}

// behind is a run against the embedded endpoint with somebody in between.
func behind(t *testing.T, by middleman) conformance.Setup {
	t.Helper()
	opened, _, err := target.Open(t.Context(), target.Embedded, os.LookupEnv)
	require.NoError(t, err)
	return conformance.Setup{
		Target: conformance.Target{Name: opened.Name, Clock: opened.Clock}, Run: "test",
		Connect: func(wrap func(sqs.HTTPClient) sqs.HTTPClient) (*sqs.Client, clock.Clock, error) {
			return opened.Connect(func(next sqs.HTTPClient) sqs.HTTPClient {
				spoiled := by
				spoiled.next = next
				return wrap(spoiled)
			})
		},
		Store: func(ctx context.Context) (receipt.Store, error) { return sqlite.Open(ctx, sqlite.Memory()) },
		Own:   true, Virtual: true, Exact: true, Profile: conformance.Default,
	}
}
