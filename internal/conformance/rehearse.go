package conformance

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/clock"
	"fifoproof/internal/window"
)

// Rehearse takes the steps of cases on an embedded endpoint, on virtual time, and
// returns what a run of them on the endpoint of target takes: the calls and queues as
// they were counted, and the time as the waits and long polls came to, laid side by
// side in the way a run in real time does it. stage opens the embedded endpoint; target
// is the one that the plan is for.
func Rehearse(ctx context.Context, cases []Case, stage, target Setup) (*Plan, error) {
	stage.Own, stage.Virtual, stage.Exact, stage.Serial = target.Own, true, false, false
	stage.Given = target.Given
	plan := &Plan{Target: target.Target, Profile: target.Profile}
	planned := make([]Planned, len(cases))
	errs := make([]error, len(cases))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, c := range cases {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			planned[i], errs[i] = rehearse(ctx, stage, i, c)
			planned[i].Premise = slices.Contains(target.Premises, c.ID)
		})
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("rehearsing %s: %w", cases[i].ID, err)
		}
	}
	plan.lay(planned, target)
	if target.Charged {
		plan.Dollars = dollars(plan.Requests)
	}
	plan.Cost = plan.cost(target)
	for _, c := range Catalogue() {
		if !slices.ContainsFunc(cases, func(other Case) bool { return other.ID == c.ID }) {
			plan.NotRun = append(plan.NotRun, c.ID)
		}
	}
	return plan, ctx.Err()
}

// rehearse takes one case's steps.
func rehearse(ctx context.Context, stage Setup, number int, c Case) (Planned, error) {
	m := &meter{}
	connect := stage.Connect
	stage.Connect = func(wrap func(sqs.HTTPClient) sqs.HTTPClient) (*sqs.Client, clock.Clock, error) {
		return connect(func(next sqs.HTTPClient) sqs.HTTPClient {
			m.next = next
			return wrap(m)
		})
	}
	a, err := newAttempt(stage, number, c, &journal{}, func(Event) {})
	if err != nil {
		return Planned{}, err
	}
	if stage.Given != nil {
		if err := a.bench.standIn(ctx, m.next); err != nil {
			return Planned{}, err
		}
	}
	began := a.bench.clock.Now()
	a.take(ctx)
	ran := a.bench.clock.Now().Sub(began)
	a.finish(ctx)
	e := newEvidence()
	for _, r := range a.mine {
		e.take(r)
	}
	p := Planned{ID: c.ID, Level: c.Level, Wait: c.Wait.Seconds()}
	p.Seconds = a.bench.clock.Now().Sub(began).Seconds()
	p.Ends = ran.Seconds()
	p.Calls, p.Queues, p.Requests = e.Calls, len(e.Queues), m.requests
	if stage.Given != nil {
		p.Queues = 0 // it makes none
	}
	if e.Actions[callCreate] {
		e.Actions["TagQueue"] = true // see withActions
	}
	for action := range e.Actions {
		p.Actions = append(p.Actions, action)
	}
	slices.Sort(p.Actions)
	return p, nil
}

// standIn makes a queue on the stage for one that the run is given.
func (b *Bench) standIn(ctx context.Context, endpoint sqs.HTTPClient) error {
	client := sqs.New(b.client.Options(), func(o *sqs.Options) { o.HTTPClient = endpoint })
	name := path.Base(b.setup.Given.URL)
	set := map[string]string{string(types.QueueAttributeNameFifoQueue): enabled}
	if b.setup.Given.Scope == window.ScopeGroup {
		for attribute, value := range groupScope {
			set[string(attribute)] = value
		}
	}
	made, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: set})
	if err != nil {
		return fmt.Errorf("making a stand-in for the queue %s: %w", name, awserr.Brief(err))
	}
	b.setup.Given = &Given{URL: *made.QueueUrl, Scope: b.setup.Given.Scope}
	return nil
}

// lay lays the rehearsed cases side by side as Run does it in real time.
func (p *Plan) lay(cases []Planned, target Setup) {
	var waiting, quick []Planned
	for _, c := range cases {
		p.Calls += c.Calls
		p.Requests += c.Requests
		p.Queues += c.Queues
		p.Longest = max(p.Longest, c.Wait)
		if c.Wait > 0 {
			waiting = append(waiting, c)
		} else {
			quick = append(quick, c)
		}
	}
	atOnce := quickAtOnce
	if target.Given != nil {
		atOnce = 1
	}
	slots := make([]float64, atOnce)
	for i := range quick {
		first := slices.Index(slots, slices.Min(slots))
		quick[i].Begins = slots[first]
		quick[i].Ends += slots[first]
		slots[first] = quick[i].Ends
	}
	slices.SortStableFunc(waiting, func(a, b Planned) int { return cmp.Compare(a.Ends, b.Ends) })
	p.Cases = slices.Concat(quick, waiting)
	for _, c := range p.Cases {
		p.Seconds = max(p.Seconds, c.Ends)
	}
	last := 0.0 // the last receives, all at once
	for _, c := range waiting {
		last = max(last, c.Seconds-c.Ends)
	}
	if len(waiting) == 0 {
		for _, c := range quick {
			last = max(last, c.Seconds-(c.Ends-c.Begins))
		}
	}
	p.Seconds += last
	if target.Virtual || target.Serial {
		p.Seconds = 0 // nothing is waited for
	}
}

// Duration is the predicted time of the whole run.
func (p *Plan) Duration() time.Duration { return time.Duration(p.Seconds * float64(time.Second)) }
