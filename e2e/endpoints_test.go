package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// refuser starts an endpoint that refuses every call of SQS: refuser STATUS CODE. Its
// address is put into the script's environment as AWS_ENDPOINT_URL.
func refuser(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: refuser STATUS CODE")
	}
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	answers(ts, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") == "" {
			http.NotFound(w, r)
			return
		}
		refuse(w, status, args[1])
	})
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-Query-Error", code+";Sender")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"__type":"com.amazonaws.sqs#%s","message":"no"}`, code)
}

// lacking puts a proxy before the served endpoint that refuses calls whose body has a
// word in it: lacking WORD CODE.
func lacking(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lacking WORD CODE")
	}
	behind, err := url.Parse(ts.Getenv("AWS_ENDPOINT_URL"))
	ts.Check(err)
	proxy := httputil.NewSingleHostReverseProxy(behind)
	answers(ts, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte(args[0])) {
			refuse(w, http.StatusBadRequest, args[1])
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
}

func answers(ts *testscript.TestScript, handler http.HandlerFunc) {
	server := httptest.NewServer(handler)
	ts.Defer(server.Close)
	ts.Setenv("AWS_ENDPOINT_URL", server.URL)
}

// queue makes a FIFO queue with tags at the served endpoint: queue NAME TAG=VALUE...
func queue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: queue NAME [TAG=VALUE]...")
	}
	tags := map[string]string{}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		tags[name] = value
	}
	body, err := json.Marshal(map[string]any{"QueueName": args[0], "Attributes": map[string]string{"FifoQueue": "true"}, "tags": tags})
	ts.Check(err)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, ts.Getenv("AWS_ENDPOINT_URL"), bytes.NewReader(body))
	ts.Check(err)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "AmazonSQS.CreateQueue")
	answer, err := http.DefaultClient.Do(request)
	ts.Check(err)
	ts.Check(answer.Body.Close())
	if answer.StatusCode != http.StatusOK {
		ts.Fatalf("making the queue %s: %s", args[0], answer.Status)
	}
}
