package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// DefaultTimeout bounds one call.
	DefaultTimeout = 30 * time.Second
	// MaxRetryAfter is the longest Retry-After that is followed: asking a server once
	// an hour harms nobody, and a slip of its clock does not stop a group for days.
	MaxRetryAfter = time.Hour

	// maxAnswer is how much of an answer is read, in bytes. What is longer is cut off
	// with its connection.
	maxAnswer = 64 << 10
	// idleConnections stay open for the next call of as many lanes.
	idleConnections = 64
)

// HTTP posts every event to a URL.
type HTTP struct {
	url    *url.URL
	shown  string // scheme and host, which are all that errors show: the rest may be secret
	client *http.Client
	now    func() time.Time
}

// NewHTTP returns an HTTP for an http or https URL. A user and password in it are
// sent as basic authentication. A timeout of 0 is [DefaultTimeout], a nil now the
// machine's clock.
func NewHTTP(target string, timeout time.Duration, now func() time.Time) (*HTTP, error) {
	if target == "" {
		return nil, errors.New("the handler http needs a URL")
	}
	if timeout < 0 {
		return nil, fmt.Errorf("a timeout of %v leaves the handler http no time", timeout)
	}
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	if now == nil {
		now = time.Now
	}
	u, err := url.Parse(target)
	switch {
	case err != nil: // which quotes it, with the password that may stand in it
		return nil, errors.New("the URL of the handler http cannot be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the URL of the handler http does not begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("the URL of the handler http has no host")
	case strings.ContainsAny(target, " \t\r\n"):
		return nil, errors.New("the handler http takes one URL, without blanks")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = idleConnections
	return &HTTP{
		url:   u,
		shown: u.Scheme + "://" + u.Host,
		client: &http.Client{
			Transport: transport,
			Timeout:   timeout,
			// A POST that follows a redirect becomes a GET, or goes to somebody who was not
			// meant.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now: now,
	}, nil
}

// Name is "http".
func (*HTTP) Name() string { return nameHTTP }

// Describe says what can be relied on.
func (h *HTTP) Describe() string {
	return "at least once: a process may die between the call and the note that it was made; the header Idempotency-Key stays the same"
}

// Close lets go of idle connections.
func (h *HTTP) Close() error {
	h.client.CloseIdleConnections()
	return nil
}

// Call posts e and waits for the answer.
func (h *HTTP) Call(ctx context.Context, e Event) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url.String(), strings.NewReader(e.Body))
	if err != nil {
		return "", fmt.Errorf("making a request to %s: %w", h.shown, hideURL(err))
	}
	head(request.Header, e)
	answer, err := h.client.Do(request)
	if err != nil {
		return "", fmt.Errorf("posting to %s: %w", h.shown, hideURL(err))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if done := answer.StatusCode/100 == 2; done {
		return clip(body, MaxResult), nil // the status says it: whatever broke off behind it, the event is carried out
	}
	if err != nil {
		body = nil
	}
	return "", h.refusal(answer, body)
}

// head says who and what is posted. Idempotency-Key is a string of structured
// fields, so it stands in quotes (draft-ietf-httpapi-idempotency-key-header-07,
// section 2.1); net/http itself repeats a request that has one when a kept
// connection turns out to be closed.
func head(h http.Header, e Event) {
	h.Set("Content-Type", "application/json")
	h.Set("Idempotency-Key", `"`+e.IdempotencyKey+`"`)
	h.Set("Fifoproof-Queue", e.Queue)
	h.Set("Fifoproof-Message-Id", e.MessageID)
	h.Set("Fifoproof-Group", e.Group)
	h.Set("Fifoproof-Sequence-Number", e.SequenceNumber)
	h.Set("Fifoproof-Attempt", strconv.Itoa(e.Attempt))
	h.Set("Fifoproof-Receive-Count", strconv.Itoa(e.ReceiveCount))
	if parent := trace(e); parent != "" {
		h.Set("Traceparent", parent)
	}
}

// refusal is what an answer that is no success means.
func (h *HTTP) refusal(answer *http.Response, body []byte) error {
	code := answer.StatusCode
	said := strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
	if title := problem(answer.Header, body); title != "" {
		said += ": " + title
	}
	err := fmt.Errorf("%s answered %s", h.shown, said)
	switch code {
	case http.StatusBadRequest, http.StatusGone, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return &RejectError{err}
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return &HaltError{err}
	}
	if code/100 == 3 { // the URL is not the right one, and stays so
		return &HaltError{err}
	}
	if after, told := retryAfter(answer.Header.Get("Retry-After"), h.now()); told {
		return &RetryError{Err: err, After: after}
	}
	return err
}

// problem is the title of a problem document, which is the same for all problems of
// its type (RFC 9457, section 3.1.3). Other words of an answer may repeat the event.
func problem(header http.Header, body []byte) string {
	if kind, _, err := mime.ParseMediaType(header.Get("Content-Type")); err != nil || kind != "application/problem+json" {
		return ""
	}
	var document struct {
		Title string `json:"title"`
	}
	if json.Unmarshal(body, &document) != nil {
		return ""
	}
	return line([]byte(document.Title), maxReason)
}

// retryAfter reads Retry-After (RFC 9110, section 10.2.3): whole seconds, or a date.
// What is past, or no such thing, was not told.
func retryAfter(text string, now time.Time) (wait time.Duration, told bool) {
	text = strings.TrimSpace(text)
	if text != "" && strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds > int(MaxRetryAfter/time.Second) {
			return MaxRetryAfter, true
		}
		return time.Duration(seconds) * time.Second, seconds > 0
	}
	date, err := http.ParseTime(text)
	if err != nil || !date.After(now) {
		return 0, false
	}
	return min(date.Sub(now), MaxRetryAfter), true
}

// hideURL takes the URL out of an error of net/http, and keeps the rest.
func hideURL(err error) error {
	if in, ok := errors.AsType[*url.Error](err); ok {
		return in.Err
	}
	return err
}
