package audit

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fifoproof/internal/cli"
	"fifoproof/internal/window"
)

// sendChunk is what a worker makes of a chunk of the send log.
type sendChunk struct {
	records []byte
	counts  [unsent + 1]int64
	spans   map[uint16]span
	lines   int64
	suspect []suspect
	err     error // about the line at which the chunk was given up
}

// span is the time of all attempts on a queue in a chunk.
type span struct{ first, last int64 }

// suspect is a line that may have been cut off when its run was killed. That is so if
// it is the last line, or the next one begins another run.
type suspect struct {
	at   int64
	next string // the run of the next line; "" for the last line of a chunk or file
	bad  bool   // the next line is no entry either
}

// sendParser makes records of entries. A parser belongs to one worker.
type sendParser struct {
	keys   *keyer
	queues cache
	scope  window.Scope
	entry  entry
}

// parse makes records of a chunk's lines.
func (p *sendParser) parse(c chunk) (out sendChunk, _ error) {
	out.records = make([]byte, 0, len(c.text)/6)
	out.spans = map[uint16]span{}
	out.lines, out.err = c.eachLine(func(at int64, line []byte, _ bool) error {
		err := p.entry.parse(line)
		if n := len(out.suspect); n > 0 && out.suspect[n-1].next == "" && !out.suspect[n-1].bad {
			out.suspect[n-1].next, out.suspect[n-1].bad = string(p.entry.run), err != nil
		}
		if errors.Is(err, errCut) {
			out.suspect = append(out.suspect, suspect{at: at})
			return nil
		}
		if err == nil {
			err = p.add(&out, at)
		}
		if err != nil {
			return &lineError{at, err}
		}
		return nil
	})
	return out, nil
}

func (p *sendParser) add(out *sendChunk, at int64) error {
	e := &p.entry
	queue, err := p.queues.number(e.queue)
	if err != nil {
		return err
	}
	out.counts[e.outcome]++
	r := sendRecord{
		group: p.keys.of(ofGroup, queue, e.group),
		start: e.start, end: e.end, at: at,
		digest: p.keys.digest(e.digest), queue: queue, outcome: e.outcome,
	}
	if p.scope == window.ScopeGroup {
		r.id = p.keys.of(ofID, queue, e.id, e.group)
	} else {
		r.id = p.keys.of(ofID, queue, e.id)
	}
	if len(e.message) > 0 {
		r.message = p.keys.of(ofMessage, 0, e.message)
	} else if e.outcome < unknown {
		r.outcome = unknown // without a MessageId nothing tells what it became
	}
	if sequence, ok := parseNumber(e.sequence); ok {
		r.sequence = sequence
		r.flags |= hasSequence
	}
	if e.start != 0 {
		s, known := out.spans[queue]
		if !known || e.start < s.first {
			s.first = e.start
		}
		s.last = max(s.last, e.start, e.end)
		out.spans[queue] = s
	}
	out.records = r.put(out.records)
	return nil
}

// readSends makes records of the whole send log.
func (a *auditor) readSends(ctx context.Context, file *os.File, size int64) error {
	a.sends = a.spill.newFamily(sendSize, a.parts)
	a.sendLines = lineIndex{file: file}
	var suspects []suspect
	var counts [unsent + 1]int64
	newParse := func() func(chunk) (sendChunk, error) {
		p := &sendParser{keys: a.keys.twin(), queues: cache{ask: a.queues.sentTo}, scope: a.opts.Scope}
		return p.parse
	}
	err := eachChunk(ctx, file, size, a.workers, newParse, func(c chunk, out sendChunk) error {
		a.sendLines.add(c.at, out.lines)
		for i, s := range out.suspect {
			// The next line of the last one may stand in the next chunk.
			if i == len(out.suspect)-1 && s.next == "" && !s.bad && c.at+int64(len(c.text)) < size {
				s.next, s.bad = a.runAt(file, c.at+int64(len(c.text)))
			}
			suspects = append(suspects, s)
		}
		if out.err != nil {
			return out.err
		}
		if len(suspects) > mostCut {
			return &lineError{suspects[0].at, suspectError()}
		}
		for i, n := range out.counts {
			counts[i] += n
		}
		for queue, s := range out.spans {
			q := a.queues.at(queue)
			if q.firstStart == 0 || s.first < q.firstStart {
				q.firstStart = s.first
			}
			q.lastEnd = max(q.lastEnd, s.last)
		}
		a.read(int64(len(c.text)))
		return a.sends.addAll(out.records)
	})
	if err == nil && len(suspects) > 0 {
		err = a.settle(ctx, file, size, suspects)
	}
	if err == nil {
		err = a.sends.flush()
	}
	a.report.Sends = Sends{
		Accepted: counts[accepted], Duplicate: counts[duplicate], Unknown: counts[unknown],
		Failed: counts[failed], Unsent: counts[unsent],
	}
	a.report.SendLog.Lines = a.sendLines.lines
	return a.sendLines.named(err, a.report.SendLog.Path)
}

// mostCut is how many cut lines a log may have. There is one for each killed run.
const mostCut = 10_000

func suspectError() error {
	return cli.Hint(errCut, "'producer --log FILE' writes the send log, a JSON object a line")
}

// runAt is the run of the line at an offset; bad where it is no entry.
func (a *auditor) runAt(file *os.File, at int64) (run string, bad bool) {
	line, err := lineAt(file, at)
	if err != nil {
		return "", true
	}
	var e entry
	err = e.parse(line)
	return string(e.run), err != nil
}

// settle tells cut lines from corrupt ones: behind a cut one stands another run's
// first entry, or nothing. Which runs were seen before is only asked where there is a
// suspect, since a log can hold as many runs as lines.
func (a *auditor) settle(ctx context.Context, file *os.File, size int64, suspects []suspect) error {
	wanted := map[string]int64{} // runs behind a suspect, with the suspect's place
	for _, s := range suspects {
		_, again := wanted[s.next]
		if s.bad || again && s.next != "" {
			return &lineError{s.at, suspectError()}
		}
		if s.next != "" {
			wanted[s.next] = s.at
		}
	}
	newParse := func() func(chunk) (int64, error) {
		var e entry
		return func(c chunk) (int64, error) {
			_, err := c.eachLine(func(at int64, line []byte, _ bool) error {
				if err := e.parse(line); errors.Is(err, errCut) {
					e.run = nil // one of the suspects
				} else if err != nil {
					return &lineError{at, err}
				}
				suspect, known := wanted[string(e.run)]
				if known && at < suspect {
					return &lineError{suspect, suspectError()}
				}
				return nil
			})
			return 0, err
		}
	}
	last := suspects[len(suspects)-1].at
	if err := eachChunk(ctx, file, min(size, last+1), a.workers, newParse, func(chunk, int64) error { return nil }); err != nil {
		return err
	}
	for i, s := range suspects {
		number, err := a.sendLines.number(s.at)
		if err != nil {
			return err
		}
		if i < 3 {
			a.notef("line %d of %s was cut off, probably when its run was killed: that send is not known", number, a.report.SendLog.Path)
		}
	}
	if more := len(suspects) - 3; more > 0 {
		a.notef("%d more lines of %s were cut off", more, a.report.SendLog.Path)
	}
	a.cuts = int64(len(suspects))
	return nil
}

// named gives the error about a line its file and number.
func (x *lineIndex) named(err error, path string) error {
	if at, ok := errors.AsType[*lineError](err); ok {
		number, numbering := x.number(at.at)
		if numbering != nil {
			return fmt.Errorf("%s: %w", path, errors.Join(err, numbering))
		}
		return fmt.Errorf("%s line %d: %w", path, number, err)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return err
}
