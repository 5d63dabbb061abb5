package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/conformance"
	"fifoproof/internal/emulator"
)

// iam is an IAM policy, as far as ours use the language.
type iam struct {
	Version   string
	Statement []struct {
		Sid, Effect, Resource string
		Action                oneOrMore
	}
}

// oneOrMore is a string, or a list of them.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

// lint compares a policy with the actions that were called, and says in sentences what is
// missing and what is too much. A wildcard is too much, whatever it covers.
func lint(policy iam, called []string) (sentences []string) {
	needed := conformance.Permissions(called...)
	var granted []string
	for _, s := range policy.Statement {
		if s.Effect != "Allow" {
			sentences = append(sentences, fmt.Sprintf("%s: its effect is %s", s.Sid, s.Effect))
			continue
		}
		for _, action := range s.Action {
			switch {
			case slices.Contains(granted, action):
				sentences = append(sentences, action+" is granted twice")
			case !slices.Contains(needed, action):
				sentences = append(sentences, action+" is too much: nothing called it")
			}
			granted = append(granted, action)
			// ListQueues knows no resources (service authorization reference, SQS).
			if on := "arn:aws:sqs:*:*:" + conformance.QueuePrefix + "*"; action == "sqs:ListQueues" && s.Resource != "*" || action != "sqs:ListQueues" && s.Resource != on {
				sentences = append(sentences, fmt.Sprintf("%s is granted on %s", action, s.Resource))
			}
		}
	}
	for _, permission := range needed {
		if !slices.Contains(granted, permission) {
			sentences = append(sentences, permission+" is missing")
		}
	}
	return sentences
}

func readPolicy(t *testing.T, name string) iam {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/policies", name))
	require.NoError(t, err)
	var policy iam
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&policy))
	require.Equal(t, "2012-10-17", policy.Version)
	return policy
}

// listener is a served endpoint that takes down which actions it is asked for.
type listener struct {
	mu      sync.Mutex
	actions []string
	url     string
}

func listen(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	behind := emulator.New(emulator.Options{Clock: clock.NewManual(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), 50*time.Millisecond)})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, action, is := strings.Cut(r.Header.Get("X-Amz-Target"), "."); is {
			l.mu.Lock()
			l.actions = append(l.actions, action)
			l.mu.Unlock()
		}
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// called are the actions since the last question.
func (l *listener) called() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	actions := l.actions
	l.actions = nil
	return actions
}

// TestVerifierPolicy: docs/policies/verifier.json has what a run of the whole catalogue
// calls, with its probe and its clean-up, and nothing else.
func TestVerifierPolicy(t *testing.T) {
	// A history of all cases.
	folder := t.TempDir()
	require.Equal(t, cli.OK, call(t, "", "verify", "--profile", "experiments", "--out", folder).code)
	file, err := os.Open(filepath.Join(folder, historyFile))
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	history, err := conformance.ReadHistory(file)
	require.NoError(t, err)
	called := conformance.Actions(history)

	// What a run calls beside its cases, and what clean does.
	served := listen(t)
	require.Equal(t, cli.OK, call(t, "", "verify", "--target", served.url, "--case", "response/error").code)
	called = append(called, served.called()...)
	require.NoError(t, leave(served.url))
	got := call(t, "", "clean", "--target", served.url, "--run", "dead")
	require.Contains(t, got.out, "1 deleted")
	called = append(called, served.called()...)

	require.Empty(t, lint(readPolicy(t, "verifier.json"), called))

	// The plan names the same permissions as the history.
	var plan struct {
		Cases []struct{ Actions []string }
	}
	planned := call(t, "", "plan", "--profile", "experiments", "--json")
	require.Equal(t, cli.OK, planned.code)
	require.NoError(t, json.Unmarshal([]byte(planned.out), &plan))
	var foretold []string
	for _, c := range plan.Cases {
		foretold = append(foretold, c.Actions...)
	}
	require.Equal(t, conformance.Permissions(conformance.Actions(history)...), conformance.Permissions(foretold...))

	t.Run("a permission that is taken away is named", func(t *testing.T) {
		for _, s := range readPolicy(t, "verifier.json").Statement {
			for _, action := range s.Action {
				changed := readPolicy(t, "verifier.json")
				for i := range changed.Statement {
					changed.Statement[i].Action = slices.DeleteFunc(changed.Statement[i].Action, func(a string) bool { return a == action })
				}
				require.Equal(t, []string{action + " is missing"}, lint(changed, called))
			}
		}
	})
	t.Run("one that is added is named", func(t *testing.T) {
		for _, action := range []string{"sqs:AddPermission", "sqs:UntagQueue", "sqs:*", "sqs:Send*", "sns:Publish"} {
			changed := readPolicy(t, "verifier.json")
			changed.Statement[0].Action = append(changed.Statement[0].Action, action)
			require.Equal(t, []string{action + " is too much: nothing called it"}, lint(changed, called))
		}
	})
	t.Run("wider resources are named", func(t *testing.T) {
		changed := readPolicy(t, "verifier.json")
		changed.Statement[0].Resource = "*"
		require.Len(t, lint(changed, called), len(changed.Statement[0].Action))
	})
	t.Run("a history that calls less makes it too much", func(t *testing.T) {
		fewer := slices.DeleteFunc(slices.Clone(called), func(a string) bool { return a == "PurgeQueue" })
		require.Equal(t, []string{"sqs:PurgeQueue is too much: nothing called it"}, lint(readPolicy(t, "verifier.json"), fewer))
		// A batch and a single call are one permission.
		singles := slices.DeleteFunc(slices.Clone(called), func(a string) bool { return a == "SendMessage" })
		require.Empty(t, lint(readPolicy(t, "verifier.json"), singles))
	})
	t.Run("a history that calls more makes it too little", func(t *testing.T) {
		more := append(slices.Clone(called), "UntagQueue", "ChangeMessageVisibilityBatch")
		require.Equal(t, []string{"sqs:UntagQueue is missing"}, lint(readPolicy(t, "verifier.json"), more))
	})
}

// TestVerifierQueuePolicy: docs/policies/verifier-queue.json has what a run on a given
// queue calls. That a message of somebody else's is given back takes
// ChangeMessageVisibility, which a run without one does not call.
func TestVerifierQueuePolicy(t *testing.T) {
	served := listen(t)
	require.NoError(t, makeQueue(served.url, "orders.fifo", map[string]string{conformance.PermitTag: conformance.PermitVerify}))
	served.called()
	got := call(t, "", "verify", "--target", served.url, "--queue", "orders.fifo")
	require.Equal(t, cli.OK, got.code, got.out+got.err)
	actions := slices.DeleteFunc(served.called(), func(a string) bool { return a == "ListQueues" }) // a URL is asked who it is; AWS is not
	policy := readPolicy(t, "verifier-queue.json")
	require.Len(t, policy.Statement, 1)
	require.Equal(t, conformance.Permissions(append(actions, "ChangeMessageVisibility")...), []string(policy.Statement[0].Action))
}

// leave leaves a queue behind as a run that died does.
func leave(endpoint string) error {
	return makeQueue(endpoint, conformance.QueuePrefix+"dead-001-x-1.fifo", map[string]string{
		conformance.RunTag: "dead", conformance.ExpiresTag: "2020-01-01T00:00:00Z",
	})
}

func makeQueue(endpoint, name string, tags map[string]string) error {
	body, err := json.Marshal(map[string]any{"QueueName": name, "Attributes": map[string]string{"FifoQueue": "true"}, "tags": tags})
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, endpoint, strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "AmazonSQS.CreateQueue")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("making the queue %s: %s", name, answer.Status)
	}
	return nil
}
