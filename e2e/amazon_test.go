package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// amazon puts an endpoint before the served one that knows whose credentials a call is
// made with, as AWS does: amazon ACCOUNT. Its address is put into AWS_ENDPOINT_URL. The
// actions that it is asked for are written to the file calls.txt.
func amazon(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: amazon ACCOUNT")
	}
	behind, err := url.Parse(ts.Getenv("AWS_ENDPOINT_URL"))
	ts.Check(err)
	proxy := httputil.NewSingleHostReverseProxy(behind)
	log := filepath.Join(ts.Getenv("WORK"), "calls.txt")
	ts.Check(os.WriteFile(log, nil, 0o644))
	answers(ts, func(w http.ResponseWriter, r *http.Request) {
		if isTokens(r) {
			identity(w, args[0])
			return
		}
		if _, action, is := strings.Cut(r.Header.Get("X-Amz-Target"), "."); is {
			if err := note(log, action); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		proxy.ServeHTTP(w, r)
	})
}

// identity answers whose credentials a call is made with.
func identity(w http.ResponseWriter, account string) {
	w.Header().Set("Content-Type", "text/xml")
	fmt.Fprintf(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
		<Arn>arn:aws:iam::%[1]s:user/tester</Arn><UserId>AIDATEST</UserId><Account>%[1]s</Account>
		</GetCallerIdentityResult></GetCallerIdentityResponse>`, account)
}

// noting keeps the lines of a file apart.
var noting sync.Mutex

// note adds a line to a file.
func note(path, line string) error {
	noting.Lock()
	defer noting.Unlock()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, line)
	return errors.Join(err, file.Close())
}

// isTokens reports whether a call is one of the security token service.
func isTokens(r *http.Request) bool {
	return r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" && r.Header.Get("X-Amz-Target") == ""
}

// tokens starts an endpoint that answers every question whose credentials these are with
// an error: tokens STATUS CODE MESSAGE.
func tokens(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: tokens STATUS CODE MESSAGE")
	}
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	answers(ts, func(w http.ResponseWriter, r *http.Request) {
		if !isTokens(r) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>`, args[1], args[2])
	})
}

// letter sends a message to a queue of the served endpoint, as somebody else would:
// letter QUEUE ID.
func letter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: letter QUEUE ID")
	}
	ts.Check(send(ts.Getenv("AWS_ENDPOINT_URL"), args[0], args[1]))
}

// send sends one message of somebody else's.
func send(endpoint, queue, id string) error {
	body, err := json.Marshal(map[string]string{
		"QueueUrl": endpoint + "/000000000000/" + queue, "MessageBody": "{}", "MessageGroupId": "theirs", "MessageDeduplicationId": id,
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		said, err := io.ReadAll(answer.Body)
		return errors.Join(fmt.Errorf("sending to %s: %s: %s", queue, answer.Status, said), err)
	}
	return nil
}

// intruder puts an endpoint before the served one at which somebody else sends a message
// to a queue just before its N-th receive: intruder QUEUE N.
func intruder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: intruder QUEUE N")
	}
	when, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	served := ts.Getenv("AWS_ENDPOINT_URL")
	behind, err := url.Parse(served)
	ts.Check(err)
	proxy := httputil.NewSingleHostReverseProxy(behind)
	var receives atomic.Int64
	answers(ts, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".ReceiveMessage") && receives.Add(1) == when {
			if err := send(served, args[0], "intruding"); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		proxy.ServeHTTP(w, r)
	})
}

// calls demands that the endpoint of amazon was asked for at most so many actions: calls N.
func calls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: calls N")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	if made := strings.Count(ts.ReadFile("calls.txt"), "\n"); made > most {
		ts.Fatalf("%d calls were made, and not %d at most", made, most)
	}
}
