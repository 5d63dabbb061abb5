package emulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
)

const (
	// ControlPrefix is the path that everything beside SQS lies under.
	ControlPrefix = "/_fifoproof/"
	// HealthPath answers GET with [Health].
	HealthPath = ControlPrefix + "health"
	// AdvancePath takes POST {"by":"5m"} and answers {"now":...}, on a clock that is
	// moved by hand.
	AdvancePath = ControlPrefix + "clock/advance"

	// lastYear is the last one that RFC 3339 can write.
	lastYear = 9999
)

// Health is what a server says of itself.
type Health struct {
	Name    string    `json:"name"`    // "fifoproof"
	Version string    `json:"version"` // of the program
	Clock   string    `json:"clock"`   // "real" or "virtual"
	Now     time.Time `json:"now"`     // on that clock
	Fault   Fault     `json:"fault,omitempty"`
}

type advanceInput struct {
	By *string `json:"by"`
}

type advanceOutput struct {
	Now time.Time `json:"now"`
}

type controlError struct {
	Error string `json:"error"`
}

// control answers a request under [ControlPrefix] and tells whether it was one.
func (s *Server) control(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, ControlPrefix) {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	refuse := func(status int, format string, args ...any) {
		writeJSON(w, status, controlError{fmt.Sprintf(format, args...)})
	}
	method, answer := http.MethodGet, s.health
	switch r.URL.Path {
	case HealthPath:
	case AdvancePath:
		method, answer = http.MethodPost, s.advance
	default:
		refuse(http.StatusNotFound, "there is no %s; there are GET %s and POST %s", quoted(r.URL.Path), HealthPath, AdvancePath)
		return true
	}
	if r.Method != method {
		w.Header().Set("Allow", method)
		refuse(http.StatusMethodNotAllowed, "%s takes %s", r.URL.Path, method)
		return true
	}
	out, err := answer(r)
	if err != nil {
		refuse(http.StatusBadRequest, "%s", err)
		return true
	}
	writeJSON(w, http.StatusOK, out)
	return true
}

func (s *Server) health(*http.Request) (any, error) {
	kind := "virtual"
	if _, isReal := s.clock.(clock.Real); isReal {
		kind = "real"
	}
	return Health{Name: "fifoproof", Version: cli.Version, Clock: kind, Now: s.now().UTC(), Fault: s.fault}, nil
}

func (s *Server) advance(r *http.Request) (any, error) {
	manual, ok := s.clock.(*clock.Manual)
	if !ok {
		return nil, errors.New("this endpoint's clock cannot be moved; serve with --clock virtual")
	}
	const limit = 4096
	body, err := io.ReadAll(io.LimitReader(r.Body, limit))
	if err != nil {
		return nil, errors.New("the body could not be read")
	}
	var in advanceInput
	if err := json.Unmarshal(body, &in); err != nil || in.By == nil {
		return nil, errors.New(`the body must be JSON such as {"by":"5m"}`)
	}
	by, err := time.ParseDuration(*in.By)
	switch {
	case err != nil:
		return nil, fmt.Errorf("by %q is not a duration such as 4m59s, 300s or 96h", quoted(*in.By))
	case by < 0:
		return nil, fmt.Errorf("by %s is negative, and time does not go back", by)
	case s.now().Add(by).UTC().Year() > lastYear:
		return nil, fmt.Errorf("by %s would lead beyond the year %d", by, lastYear)
	}
	return advanceOutput{manual.Advance(by).UTC()}, nil
}
