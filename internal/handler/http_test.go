package handler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/handler"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// posting returns the handler on a server that answers with what answer writes.
func posting(t *testing.T, answer http.HandlerFunc) (h *handler.HTTP, shown string) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	h, err := handler.NewHTTP(server.URL+"/geheim/hook?token=geheim", 0, func() time.Time { return noon })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h, server.URL
}

func TestHTTPRequest(t *testing.T) {
	t.Parallel()
	h, _ := posting(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(w, r.Method, r.URL, string(body))
		for _, name := range []string{
			"Content-Type", "Idempotency-Key", "Fifoproof-Queue", "Fifoproof-Message-Id", "Fifoproof-Group",
			"Fifoproof-Sequence-Number", "Fifoproof-Attempt", "Fifoproof-Receive-Count", "Traceparent",
		} {
			fmt.Fprintf(w, "%s: %s\n", name, strings.Join(r.Header.Values(name), " and "))
		}
	})
	result, err := h.Call(t.Context(), event())
	require.NoError(t, err)
	require.Equal(t, `POST /geheim/hook?token=geheim {"account":"alice","amount":12.34}
Content-Type: application/json
Idempotency-Key: "`+event().IdempotencyKey+`"
Fifoproof-Queue: orders.fifo
Fifoproof-Message-Id: m-1
Fifoproof-Group: g-1
Fifoproof-Sequence-Number: 18849496460467696128
Fifoproof-Attempt: 2
Fifoproof-Receive-Count: 3
Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
`, result)

	e := event()
	e.Traceparent = "00-x\r\nAuthorization: y" // a message attribute that anybody may have set
	result, err = h.Call(t.Context(), e)
	require.NoError(t, err)
	require.Contains(t, result, "Traceparent: \n")
}

// What every status means, as the issue lists them; the others are failures like
// any, but for redirects.
func TestHTTPStatuses(t *testing.T) {
	t.Parallel()
	const (
		done   = "done"
		reject = "reject"
		halt   = "halt"
		retry  = "retry"
	)
	want := map[int]string{
		200: done, 201: done, 202: done, 204: done, 208: done,
		300: halt, 301: halt, 302: halt, 303: halt, 304: halt, 307: halt, 308: halt,
		400: reject, 410: reject, 413: reject, 415: reject, 422: reject,
		401: halt, 403: halt, 404: halt,
		408: retry, 409: retry, 425: retry, 429: retry,
		500: retry, 501: retry, 502: retry, 503: retry, 504: retry, 507: retry, 599: retry,
		402: retry, 405: retry, 406: retry, 412: retry, 417: retry, 418: retry, 423: retry, 428: retry, 431: retry, 451: retry,
	}
	var status atomic.Int64
	h, shown := posting(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(int(status.Load()))
	})
	for code, want := range want {
		status.Store(int64(code))
		_, err := h.Call(t.Context(), event())
		got := done
		var later *handler.RetryError
		var halted *handler.HaltError
		switch {
		case handler.Rejected(err):
			got = reject
		case errors.As(err, &halted):
			got = halt
		case errors.As(err, &later):
			got = retry
			require.Equal(t, 7*time.Second, later.After)
		case err != nil:
			got = "plain: " + err.Error()
		}
		require.Equal(t, want, got, code)
		if err != nil {
			require.Equal(t, strings.TrimSpace(fmt.Sprintf("%s answered %d %s", shown, code, http.StatusText(code))), err.Error())
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	var told atomic.Value
	h, _ := posting(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", told.Load().(string))
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	for text, want := range map[string]time.Duration{ // 0: a failure like any
		"1":                              time.Second,
		" 120 ":                          2 * time.Minute,
		"3600":                           time.Hour,
		"3601":                           time.Hour, // the most that is followed
		"99999999999999999999999":        time.Hour,
		"Mon, 30 Nov 2026 12:00:30 GMT":  30 * time.Second,
		"Monday, 30-Nov-26 12:00:30 GMT": 30 * time.Second, // RFC 850, which RFC 9110 has readers take
		"Tue, 01 Dec 2026 12:00:00 GMT":  time.Hour,
		"Mon, 30 Nov 2026 11:59:59 GMT":  0,
		"Mon, 30 Nov 2026 12:00:00 GMT":  0,
		"0":                              0,
		"-5":                             0,
		"1.5":                            0,
		"soon":                           0,
		"":                               0,
	} {
		told.Store(text)
		_, err := h.Call(t.Context(), event())
		require.Error(t, err)
		if later, ok := errors.AsType[*handler.RetryError](err); ok {
			require.Equal(t, want, later.After, text)
		} else {
			require.Zero(t, want, text)
		}
	}
}

// A POST that follows a redirect would come as a GET, or to another host.
func TestHTTPFollowsNothing(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	h, _ := posting(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		http.Redirect(w, r, "/login", http.StatusFound)
	})
	_, err := h.Call(t.Context(), event())
	require.ErrorAs(t, err, new(*handler.HaltError))
	require.EqualValues(t, 1, calls.Load())
}

func TestHTTPAnswers(t *testing.T) {
	t.Parallel()
	h, shown := posting(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Fifoproof-Group") {
		case "long":
			fmt.Fprint(w, strings.Repeat("é", 100_000))
		case "binary":
			fmt.Fprint(w, "a\x00b\xff\xfec")
		case "broken":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half")
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "problem":
			w.Header().Set("Content-Type", "application/problem+json; charset=utf-8")
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"title":"Key used\twith another payload\nor so","detail":"alice owes 12.34"}`)
		case "echo":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"title":"alice owes 12.34"}`)
		}
	})
	call := func(group string) (string, error) {
		e := event()
		e.Group = group
		return h.Call(t.Context(), e)
	}
	result, err := call("long")
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("é", handler.MaxResult/2), result)
	result, err = call("binary")
	require.NoError(t, err)
	require.Equal(t, "a�b�c", result, "no database would take the bytes")
	result, err = call("broken")
	require.NoError(t, err, "the status said that the event is carried out")
	require.Equal(t, "half", result)
	_, err = call("problem")
	require.EqualError(t, err, shown+" answered 422 Unprocessable Entity: Key used with another payload")
	_, err = call("echo")
	require.EqualError(t, err, shown+" answered 400 Bad Request", "other words may be the event's own")
}

// Whoever cannot be reached is tried again, and no error tells a credential.
func TestHTTPFailures(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	target := strings.Replace(gone.URL, "http://", "http://user:geheim@", 1) + "/geheim?token=geheim"
	h, err := handler.NewHTTP(target, 0, nil)
	require.NoError(t, err)
	_, err = h.Call(t.Context(), event())
	require.ErrorContains(t, err, "posting to "+gone.URL+": ")
	require.NotContains(t, err.Error(), "geheim")
	require.NotContains(t, err.Error(), "user")
	require.False(t, handler.Rejected(err))
	require.NotErrorAs(t, err, new(*handler.HaltError))

	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user+password == "usergeheim" { // they are sent, though never told
			cancel()
		}
		<-release
	}))
	defer slow.Close()
	defer close(release)
	h, err = handler.NewHTTP(strings.Replace(slow.URL, "http://", "http://user:geheim@", 1), 0, nil)
	require.NoError(t, err)
	_, err = h.Call(ctx, event())
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, err.Error(), "geheim")

	h, err = handler.NewHTTP(slow.URL, 20*time.Millisecond, nil)
	require.NoError(t, err)
	_, err = h.Call(t.Context(), event())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorAs(t, err, new(*handler.HaltError))
}
