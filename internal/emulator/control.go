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
	// DisturbPath takes POST {"action":"SendMessage","effect":"drop-reply","times":2},
	// a [Disturbance] whose "by" is text such as 1.5s. GET answers {"disturbances":[...]}
	// with those that stand, and so do POST and DELETE, which takes all of them back.
	DisturbPath = ControlPrefix + "disturb"

	// lastYear is the last one that RFC 3339 can write.
	lastYear = 9999

	controlLimit = 4096 // bytes of a body
)

// Health is what a server says of itself.
type Health struct {
	Name     string    `json:"name"`    // "fifoproof"
	Version  string    `json:"version"` // of the program
	Clock    string    `json:"clock"`   // "real" or "virtual"
	Now      time.Time `json:"now"`     // on that clock
	Variants []string  `json:"variants,omitempty"`
}

type advanceInput struct {
	By *string `json:"by"`
}

type advanceOutput struct {
	Now time.Time `json:"now"`
}

// disturbanceJSON is a [Disturbance] on the wire.
type disturbanceJSON struct {
	Action      string  `json:"action,omitempty"`
	Effect      Effect  `json:"effect"`
	By          string  `json:"by,omitempty"`
	Times       int     `json:"times,omitempty"`
	Probability float64 `json:"probability,omitempty"`
}

type disturbancesOutput struct {
	Disturbances []disturbanceJSON `json:"disturbances"`
}

type controlError struct {
	Error string `json:"error"`
}

type controlAnswer func(s *Server, body []byte) (any, error)

// controls are what can be asked for, by path and method.
var controls = map[string]map[string]controlAnswer{
	HealthPath:  {http.MethodGet: (*Server).health},
	AdvancePath: {http.MethodPost: (*Server).advance},
	DisturbPath: {
		http.MethodGet:    (*Server).listDisturbances,
		http.MethodPost:   (*Server).orderDisturbance,
		http.MethodDelete: (*Server).calm,
	},
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
	methods, known := controls[r.URL.Path]
	if !known {
		refuse(http.StatusNotFound, "there is no %s; there are %s", quoted(r.URL.Path), strings.Join(sortedKeys(controls), ", "))
		return true
	}
	answer, takes := methods[r.Method]
	if !takes {
		allowed := strings.Join(sortedKeys(methods), ", ")
		w.Header().Set("Allow", allowed)
		refuse(http.StatusMethodNotAllowed, "%s takes %s", r.URL.Path, allowed)
		return true
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, controlLimit))
	if err != nil {
		refuse(http.StatusBadRequest, "the body could not be read")
		return true
	}
	out, err := answer(s, body)
	if err != nil {
		refuse(http.StatusBadRequest, "%s", err)
		return true
	}
	writeJSON(w, http.StatusOK, out)
	return true
}

func (s *Server) health([]byte) (any, error) {
	kind := "virtual"
	if _, isReal := s.clock.(clock.Real); isReal {
		kind = "real"
	}
	return Health{Name: "fifoproof", Version: cli.Version, Clock: kind, Now: s.now().UTC(), Variants: s.variants}, nil
}

func (s *Server) advance(body []byte) (any, error) {
	manual, ok := s.clock.(*clock.Manual)
	if !ok {
		return nil, errors.New("this endpoint's clock cannot be moved; serve with --clock virtual")
	}
	var in advanceInput
	if err := json.Unmarshal(body, &in); err != nil || in.By == nil {
		return nil, errors.New(`the body must be JSON such as {"by":"5m"}`)
	}
	by, err := duration(*in.By)
	switch {
	case err != nil:
		return nil, err
	case by < 0:
		return nil, fmt.Errorf("by %s is negative, and time does not go back", by)
	case s.now().Add(by).UTC().Year() > lastYear:
		return nil, fmt.Errorf("by %s would lead beyond the year %d", by, lastYear)
	}
	return advanceOutput{manual.Advance(by).UTC()}, nil
}

func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("by %q is not a duration such as 4m59s, 300s or 96h", quoted(text))
	}
	return d, nil
}

func (s *Server) listDisturbances([]byte) (any, error) {
	out := disturbancesOutput{Disturbances: []disturbanceJSON{}}
	for _, d := range s.Disturbances() {
		by := ""
		if d.By > 0 {
			by = d.By.String()
		}
		out.Disturbances = append(out.Disturbances, disturbanceJSON{d.Action, d.Effect, by, d.Times, d.Probability})
	}
	return out, nil
}

func (s *Server) orderDisturbance(body []byte) (any, error) {
	var in disturbanceJSON
	if err := decodeStrictly(string(body), &in); err != nil {
		return nil, errors.New(`the body must be JSON such as {"action":"SendMessage","effect":"drop-reply","times":2}`)
	}
	order := Disturbance{Action: in.Action, Effect: in.Effect, Times: in.Times, Probability: in.Probability}
	if in.By != "" {
		by, err := duration(in.By)
		if err != nil {
			return nil, err
		}
		order.By = by
	}
	if err := s.Disturb(order); err != nil {
		return nil, err
	}
	return s.listDisturbances(nil)
}

func (s *Server) calm([]byte) (any, error) {
	s.Calm()
	return s.listDisturbances(nil)
}
