package emulator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"fifoproof/internal/clock"
)

// Effect is what a disturbance does to a request.
type Effect string

// What can happen to a request.
const (
	DropRequest Effect = "drop-request" // it is not carried out, and the connection is cut without an answer
	DropReply   Effect = "drop-reply"   // it is carried out, and the connection is cut without an answer
	Throttle    Effect = "throttle"     // it is not carried out and answered with 403 RequestThrottled
	Fail        Effect = "fail"         // it is not carried out and answered with 500 InternalFailure
	FailReply   Effect = "fail-reply"   // it is carried out and answered with 500 InternalFailure
	Delay       Effect = "delay"        // it is carried out By later on the server's clock
	DelayReply  Effect = "delay-reply"  // it is carried out at once and answered By later
)

var effects = []Effect{DropRequest, DropReply, Throttle, Fail, FailReply, Delay, DelayReply}

// Disturbance is an order to disturb requests, which [Server.Disturb] gives.
type Disturbance struct {
	Action string // of the requests, such as SendMessage; "": any
	Effect Effect
	By     time.Duration // of a delay

	// Times is how many requests are struck; 0: one, or with a Probability all.
	Times int
	// Probability with which each request is struck; 0: every one.
	Probability float64
}

// check completes d, or says what is wrong with it.
func (d *Disturbance) check() error {
	_, served := actions[d.Action]
	delays := d.Effect == Delay || d.Effect == DelayReply
	switch {
	case !slices.Contains(effects, d.Effect):
		return fmt.Errorf("there is no effect %q; there are %v", quoted(string(d.Effect)), effects)
	case d.Action != "" && !served:
		return fmt.Errorf("there is no action %q", quoted(d.Action))
	case d.Times < 0:
		return fmt.Errorf("times %d is negative", d.Times)
	case !(d.Probability >= 0 && d.Probability <= 1):
		return fmt.Errorf("probability %v is not from 0 to 1", d.Probability)
	case delays != (d.By > 0):
		return fmt.Errorf("effect %s with by %s: a delay needs a positive one, and nothing else takes one", d.Effect, d.By)
	}
	if d.Times == 0 && d.Probability == 0 {
		d.Times = 1
	}
	return nil
}

// disturbances are the orders that stand. Its zero value is none.
type disturbances struct {
	mu     sync.Mutex
	orders []Disturbance
}

// Disturb orders a disturbance. Of several orders that fit a request the first one
// strikes, and a request is struck once. The requests under [ControlPrefix] never are.
func (s *Server) Disturb(d Disturbance) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("ordering a disturbance: %w", err)
	}
	s.disturbances.mu.Lock()
	defer s.disturbances.mu.Unlock()
	s.disturbances.orders = append(s.disturbances.orders, d)
	return nil
}

// Disturbances are the orders that stand, each with the Times that are left of it.
func (s *Server) Disturbances() []Disturbance {
	s.disturbances.mu.Lock()
	defer s.disturbances.mu.Unlock()
	return slices.Clone(s.disturbances.orders)
}

// Calm takes back all orders.
func (s *Server) Calm() {
	s.disturbances.mu.Lock()
	defer s.disturbances.mu.Unlock()
	s.disturbances.orders = nil
}

// strike is what happens to the next request of an action.
func (s *Server) strike(action string) (Effect, time.Duration) {
	d := &s.disturbances
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.orders {
		o := &d.orders[i]
		if o.Action != "" && o.Action != action || o.Probability > 0 && !s.chance.hit(o.Probability) {
			continue
		}
		effect, by := o.Effect, o.By
		if o.Times == 1 {
			d.orders = slices.Delete(d.orders, i, i+1)
		} else if o.Times > 1 {
			o.Times--
		}
		return effect, by
	}
	if s.hooks.strike != nil {
		return s.hooks.strike(s.chance)
	}
	return "", 0
}

// errCut stands for an answer that nobody gets.
var errCut = errors.New("the connection is cut")

// disturbed carries a request out, unless what strikes it is against that.
func (s *Server) disturbed(ctx context.Context, action string, carryOut func() (any, error)) (any, error) {
	effect, by := s.strike(action)
	if effect == "" {
		return carryOut()
	}
	switch effect {
	case DropRequest:
		return nil, errCut
	case Throttle:
		return nil, requestThrottled()
	case Fail:
		return nil, errDisturbed()
	case Delay:
		if err := s.pause(ctx, by); err != nil {
			return nil, err
		}
	default: // it comes after the request was carried out
	}
	out, err := carryOut()
	switch effect {
	case DropReply:
		return nil, errCut
	case FailReply:
		return nil, errDisturbed()
	case DelayReply:
		if err := s.pause(ctx, by); err != nil {
			return nil, err
		}
	default: // it came before
	}
	return out, err
}

func errDisturbed() *apiError { return internalFailure(errors.New("a failure was ordered")) }

// pause waits on the server's clock. One that stands still is not waited for beyond
// its patience. Error: errCut if the caller gave up.
func (s *Server) pause(ctx context.Context, d time.Duration) error {
	err := clock.Sleep(ctx, s.clock, d)
	if err != nil && !errors.Is(err, clock.ErrStandsStill) {
		return errCut
	}
	return nil
}

// cut ends the connection without an answer, as the net/http package has it: by a
// panic that its server takes for the order to do so.
func cut(w http.ResponseWriter) {
	if inProcess, ok := w.(*recorder); ok {
		inProcess.cut = true
		return
	}
	panic(http.ErrAbortHandler)
}
