package emulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"fifoproof/internal/cli"
)

const (
	contentType  = "application/x-amz-json-1.0"
	targetPrefix = "AmazonSQS."

	// requestLimit leaves room for the largest batch with every character escaped.
	requestLimit = 16 << 20
)

// action answers the JSON of one request with a value to be written as JSON, or
// with nil for an empty body.
type action func(s *Server, c *call, body []byte) (any, error)

// takes makes an action of a method that takes a typed input.
func takes[In any](method func(*Server, *call, *In) (any, error)) action {
	return func(s *Server, c *call, body []byte) (any, error) {
		in := new(In)
		if len(bytes.TrimSpace(body)) > 0 {
			if err := json.Unmarshal(body, in); err != nil {
				return nil, serialization(jsonReason(err))
			}
		}
		return method(s, c, in)
	}
}

// jsonReason says what is wrong with a body without quoting it.
func jsonReason(err error) string {
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return "the request must be a JSON object"
	case errors.As(err, &wrongType):
		return fmt.Sprintf("%s at byte %d is of the wrong type or out of range", wrongType.Field, wrongType.Offset)
	case errors.As(err, &syntax):
		return fmt.Sprintf("the request is not valid JSON at byte %d", syntax.Offset)
	default:
		return "the request cannot be read as JSON of this action"
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", "fifoproof/"+cli.Version)
	if s.control(w, r) {
		return
	}
	requestID := s.ids.uuid()
	name, out, err := s.dispatch(r)
	if errors.Is(err, errCut) {
		s.log.LogAttrs(r.Context(), slog.LevelDebug, "cut", slog.String("action", name), slog.String("request", requestID))
		cut(w)
		return
	}
	status, code := http.StatusOK, ""
	header := w.Header()
	header.Set("X-Amzn-Requestid", requestID)
	header.Set("Content-Type", contentType)
	if err != nil {
		answer := asAPIError(err)
		status, code = answer.status, answer.code
		fault := "Sender"
		if answer.receiver {
			fault = "Receiver"
		}
		header.Set("X-Amzn-Query-Error", code+";"+fault)
		out = errorBody{Type: answer.shape, Message: answer.message}
	}
	writeJSON(w, status, out)
	s.log.LogAttrs(r.Context(), slog.LevelDebug, "answered",
		slog.String("action", name), slog.Int("status", status), slog.String("code", code), slog.String("request", requestID))
}

type errorBody struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

// dispatch finds and runs the action that r asks for.
func (s *Server) dispatch(r *http.Request) (name string, out any, err error) {
	if s.broken != nil {
		return "", nil, internalFailure(s.broken)
	}
	if r.Method != http.MethodPost {
		return "", nil, unknownOperation(http.StatusNotFound, "SQS actions are called with POST.")
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/x-www-form-urlencoded" {
		return "", nil, unsupported("The Query protocol is not served here, only AWS JSON 1.0 (Content-Type: %s, "+
			"X-Amz-Target: %sSendMessage). SDKs since late 2023 use it.", contentType, targetPrefix)
	}
	target := r.Header.Get("X-Amz-Target")
	name, isSQS := strings.CutPrefix(target, targetPrefix)
	run := actions[name]
	switch {
	case isSQS && run != nil:
	case isSQS && notServed[name] != "":
		return name, nil, unsupported("%s is not served here: %s.", name, notServed[name])
	case target == "":
		return "", nil, unknownOperation(http.StatusBadRequest, "The request has no header X-Amz-Target.")
	default:
		return "", nil, unknownOperation(http.StatusBadRequest, fmt.Sprintf("There is no action %s.", quoted(target)))
	}

	body, err := readBody(r)
	if err != nil {
		return name, nil, err
	}
	out, err = s.disturbed(r.Context(), name, func() (any, error) {
		return run(s, &call{ctx: r.Context(), base: baseURL(r)}, body)
	})
	return name, out, err
}

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > requestLimit {
		return nil, requestTooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, requestLimit+1))
	switch {
	case err != nil:
		return nil, serialization("the request body could not be read to its end")
	case len(body) > requestLimit:
		return nil, requestTooLarge()
	}
	return body, nil
}

// baseURL is where the caller thinks the endpoint is, so that queue URLs work for
// it behind port mappings and other names.
func baseURL(r *http.Request) string {
	scheme := r.URL.Scheme
	switch {
	case scheme != "":
	case r.TLS != nil:
		scheme = "https"
	default:
		scheme = "http"
	}
	host := r.Host
	if host == "" {
		host = "localhost" // HTTP/1.0 has no Host header
	}
	return scheme + "://" + host
}

// writeJSON writes out, or nothing at all for a nil out, which is how SQS answers
// actions without output.
func writeJSON(w http.ResponseWriter, status int, out any) {
	var body []byte
	if out != nil {
		var buffer bytes.Buffer
		encoder := json.NewEncoder(&buffer)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(out); err != nil { // outputs are plain structs
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		body = bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the caller has gone
}
