package emulator

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// RoundTripper answers requests in process, in the caller's goroutine and without
// sockets. Give it to the SDK as the transport of its HTTP client, with any
// endpoint. It ends when the request's context does.
func (s *Server) RoundTripper() http.RoundTripper { return transport{s} }

type transport struct{ server *Server }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// A server's view of the request: it has a body and names its host.
	served := r.Clone(ctx)
	if served.Body == nil {
		served.Body = http.NoBody
	}
	if served.Host == "" {
		served.Host = r.URL.Host
	}
	served.RequestURI = r.URL.RequestURI()
	rec := &recorder{header: http.Header{}}
	t.server.ServeHTTP(rec, served)
	if err := ctx.Err(); err != nil {
		return nil, err // the reply is lost, as it is on a socket
	}
	if rec.cut {
		return nil, fmt.Errorf("the connection was cut: %w", io.ErrUnexpectedEOF)
	}
	return &http.Response{
		Status:     strconv.Itoa(rec.status) + " " + http.StatusText(rec.status),
		StatusCode: rec.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        rec.header,
		Body:          io.NopCloser(&rec.body),
		ContentLength: int64(rec.body.Len()),
		Request:       r,
	}, nil
}

// recorder is the response as the handler writes it.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	cut    bool // the caller gets no answer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}
