package producer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fifoproof/internal/contenthash"
)

// run is one call of [Producer.Run].
type run struct {
	p      *Producer
	id     string
	began  time.Time
	inputs []Input
	live   bool // some input is
	each   func(Record)
	sum    Summary

	items []*message // in the order of lines; bad ones wait for the ones before them
	load  load       // of the items that are not bad

	made int           // lines of which an ID was made
	seen map[key]place // IDs made in a dry run
}

// Run sends the lines of inputs, in order. each is called with every record, in the
// order of lines, from the calling goroutine; it may be nil. Records that share a
// batch come together.
//
// A line of which no message can be made is recorded as failed, and the rest goes on.
// Run returns an error where it could not go on: a [StopError]; that of reading an
// input or of writing the log; ctx's, after the batch in flight was given
// Config.Grace to end. The summary is complete in any case.
func (p *Producer) Run(ctx context.Context, inputs []Input, each func(Record)) (Summary, error) {
	r := &run{p: p, id: p.newRun(), began: p.cfg.Clock.Now(), inputs: inputs, each: each}
	r.sum = Summary{Run: r.id, Queue: p.cfg.Queue}
	unmatched := p.cfg.Hash.Unmatched()
	r.live = slices.ContainsFunc(inputs, func(in Input) bool { return in.Live })

	done := make(chan struct{})
	defer close(done)
	lines := scan(inputs, done)

	err := r.loop(ctx, lines)
	switch stop := (*StopError)(nil); {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		r.sum.Interrupted, r.sum.Unread = true, true
		err = fmt.Errorf("interrupted while sending to %s: %w", p.cfg.Queue, err)
	case errors.As(err, &stop):
		r.countRest(lines)
	}
	r.sum.Elapsed = p.cfg.Clock.Now().Sub(r.began)
	r.sum.Distinct = len(r.seen)
	for pointer, count := range p.cfg.Hash.Unmatched() {
		if r.made > 0 && count-unmatched[pointer] >= int64(r.made) {
			r.sum.Unmatched = append(r.sum.Unmatched, pointer)
		}
	}
	slices.Sort(r.sum.Unmatched)
	if log := p.cfg.Log; log != nil {
		err = errors.Join(err, log.sync())
	}
	return r.sum, err
}

func (r *run) loop(ctx context.Context, lines <-chan line) error {
	for {
		l, what := r.next(ctx, lines)
		switch {
		case what == ended, what == interrupted:
			if err := r.flush(ctx); err != nil || what == ended {
				return err
			}
			return ctx.Err()
		case what == idle:
			if err := r.flush(ctx); err != nil {
				return err
			}
		case l.err != nil:
			if err := r.flush(ctx); err != nil {
				return err
			}
			return l.err
		default:
			if err := r.take(ctx, l); err != nil {
				return err
			}
		}
	}
}

type event uint8

const (
	got event = iota
	ended
	idle
	interrupted
)

// next waits for a line, but not for ever where a live input is silent.
func (r *run) next(ctx context.Context, lines <-chan line) (line, event) {
	if ctx.Err() != nil {
		select {
		case _, more := <-lines:
			if !more {
				return line{}, ended
			}
			r.sum.Lines++
			r.sum.Unsent += r.p.cfg.Repeat
		default:
		}
		return line{}, interrupted
	}
	var silence <-chan time.Time
	if r.live && len(r.items) > 0 {
		timer := time.NewTimer(r.p.cfg.Linger)
		defer timer.Stop()
		silence = timer.C
	}
	select {
	case l, more := <-lines:
		if !more {
			return line{}, ended
		}
		return l, got
	case <-silence:
		return line{}, idle
	case <-ctx.Done():
		return line{}, interrupted
	}
}

// mostItems bounds what waits for a batch when hardly any line is good.
const mostItems = 1000

// take puts a line into the batch, and sends the batch before it where it is full.
func (r *run) take(ctx context.Context, l line) error {
	r.sum.Lines++
	m, err := r.p.prepare(l)
	m.Run, m.Queue, m.began = r.id, r.p.cfg.Queue, r.began
	m.Source, m.Line, m.Copy = r.inputs[l.input].Name, l.number, 1
	if err != nil {
		m.bad = true
		m.settle(Failed, plain(err))
		r.items = append(r.items, &m)
		if r.load.entries == 0 || len(r.items) >= mostItems {
			return r.flush(ctx)
		}
		return nil
	}
	r.made++
	for number := 1; number <= r.p.cfg.Repeat; number++ {
		if !r.load.takes(m.size()) {
			if err := r.flush(ctx); err != nil {
				r.sum.Unsent += r.p.cfg.Repeat - number + 1
				return err
			}
		}
		item := m
		item.Copy = number
		r.items = append(r.items, &item)
		r.load.add(item.size())
	}
	if r.load.entries == maxEntries {
		return r.flush(ctx)
	}
	return nil
}

// flush sends what is in hand and reports every item of it.
func (r *run) flush(ctx context.Context) error {
	good := make([]*message, 0, maxEntries)
	for _, m := range r.items {
		if !m.bad {
			good = append(good, m)
		}
	}
	var err error
	switch {
	case len(good) == 0:
	case r.p.cfg.DryRun:
		for _, m := range good {
			r.pretend(m)
		}
	default:
		err = r.deliver(ctx, good)
	}
	for _, m := range r.items {
		if m.Outcome == Unknown && m.MessageID == "" {
			r.claim(m, m.Attempts[len(m.Attempts)-1].Start)
		}
		if log := r.p.cfg.Log; log != nil && len(m.Attempts) > 0 {
			if failed := log.append(m.Entry()); failed != nil && err == nil {
				err = failed
			}
		}
	}
	// Only when all of the batch is in the log: each may end the process, by printing
	// to a pipe that nobody reads any more.
	for _, m := range r.items {
		r.sum.count(m.Record)
		if r.each != nil {
			r.each(m.Record)
		}
	}
	clear(r.items)
	r.items, r.load = r.items[:0], load{}
	return err
}

// pretend is what a dry run does in place of sending.
func (r *run) pretend(m *message) {
	m.settle(Unsent, "dry run")
	if r.seen == nil {
		r.seen = map[key]place{}
	}
	id := keyOf(m.ID)
	if first, again := r.seen[id]; again {
		m.Original = r.label(first)
	} else {
		r.seen[id] = r.place(m.Record)
	}
	r.claim(m, r.p.cfg.Clock.Now())
}

// countRest counts the lines that a stopped run never came to.
func (r *run) countRest(lines <-chan line) {
	if r.live {
		r.sum.Unread = true
		return
	}
	for l := range lines {
		if l.err != nil {
			r.sum.Unread = true
			return
		}
		r.sum.Lines++
		r.sum.Unsent += r.p.cfg.Repeat
	}
}

func (r *run) place(m Record) place { return r.p.known.place(m.Run, m.Source, m.Line) }

func (r *run) label(at place) string { return r.p.known.label(at, r.id, len(r.inputs) > 1) }

func (r *run) name(m Record) string { return r.label(r.place(m)) }

// plain is the sentence of an error about a body, without the package it comes from.
func plain(err error) string {
	if body := (*contenthash.Error)(nil); errors.As(err, &body) {
		return body.Sentence()
	}
	return err.Error()
}
