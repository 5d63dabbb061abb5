package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// farewell is how long answers may still take when the context has ended.
const farewell = 2 * time.Second

// Handler answers /metrics, /livez and /readyz. A probe's answer is 200 "ok", or 503
// and the reason in a line.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		Registry: m.registry, MaxRequestsInFlight: 4, EnableOpenMetrics: true,
	}))
	mux.HandleFunc("GET /livez", probe(m.health.dead))
	mux.HandleFunc("GET /readyz", probe(m.health.unready))
	return mux
}

func probe(trouble func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if why := trouble(); why != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintln(w, why)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	}
}

// Server is a listener with a handler.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// Listen opens addr, as "127.0.0.1:9090", ":9090" or "127.0.0.1:0" for any free port.
// What goes wrong with requests is told to logger, which may be nil.
func Listen(ctx context.Context, addr string, h http.Handler, logger *slog.Logger) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for metrics on %s: %w", addr, err)
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Server{listener: listener, http: &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}}, nil
}

// Addr is where the server listens, with the port that it got.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers until ctx ends, and returns when the answers under way are given, two
// seconds later at most.
func (s *Server) Serve(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- s.http.Serve(s.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving metrics on %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := s.http.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-ended //nolint:errcheck // it says that the server was closed
	return err
}
