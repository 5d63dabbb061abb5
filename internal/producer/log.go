package producer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Log is an append-only send log. It is not safe for concurrent use.
type Log struct {
	path  string
	file  *os.File
	known *known
	notes []string
	torn  bool // the file ends inside a line
}

// OpenLog opens the log at path, or makes it, and reads what earlier runs wrote: their
// messages are what a new run can recognise. Close it after the last run.
func OpenLog(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the send log: %w", err)
	}
	l := &Log{path: path, file: file, known: newKnown()}
	l.notes, l.torn, err = readLog(file, l.recall)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the send log %s: %w", path, err), file.Close())
	}
	return l, nil
}

// Notes tell about lines that were cut off when an earlier run was killed.
func (l *Log) Notes() []string { return slices.Clone(l.notes) }

// Path is where the log is.
func (l *Log) Path() string { return l.path }

// Close closes the file.
func (l *Log) Close() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("closing the send log: %w", err)
	}
	return nil
}

// recall puts an entry of an earlier run into memory.
func (l *Log) recall(e Entry) error {
	at := l.known.place(e.Run, e.Source, e.Line)
	if e.MessageID != "" {
		l.known.remember(e.MessageID, at)
	}
	when := e.last()
	if sent := e.Outcome == Accepted || e.Outcome == Duplicate || e.Outcome == Unknown; sent && !when.IsZero() {
		l.known.claim(when, e.Queue, e.ID, e.Group, at)
	}
	return nil
}

// append writes one entry with one write, so that a killed run cuts off at most its
// last line and two runs that share a log do not mix theirs.
func (l *Log) append(e Entry) error {
	text, err := e.marshal()
	if err != nil {
		return fmt.Errorf("writing the send log %s: %w", l.path, err)
	}
	if l.torn {
		// The cut line keeps its bytes and gets its end: nothing in a log is rewritten.
		text = append([]byte("\n"), text...)
	}
	if _, err := l.file.Write(text); err != nil {
		return fmt.Errorf("writing the send log %s: %w", l.path, err)
	}
	l.torn = false
	return nil
}

// sync asks the system to put on disk what was written. A killed process loses
// nothing without it; a machine that loses power would.
func (l *Log) sync() error {
	// Pipes and devices cannot be synced, and need not be.
	if info, err := l.file.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("writing the send log %s: %w", l.path, err)
	}
	return nil
}

// ReadLog gives each the entries of a send log, in order, and stops at its first
// error. A line that was cut off when its run was killed is passed over with a note;
// any other line that cannot be read is an error that names it.
func ReadLog(r io.Reader, each func(Entry) error) (notes []string, err error) {
	notes, _, err = readLog(r, each)
	return notes, err
}

// longestEntry bounds a line of a log; the longest texts in it are error messages.
const longestEntry = 1 << 20

// readLog tells a cut line from a corrupt one by its place: a killed run writes
// nothing after it, so it is the last line or the next one begins another run.
func readLog(from io.Reader, each func(Entry) error) (notes []string, torn bool, err error) {
	var (
		reader  = bufio.NewReaderSize(from, longestEntry)
		runs    = map[string]bool{}
		suspect error // about the line before, which may have been cut off
		at      int
	)
	cut := func() {
		notes = append(notes, fmt.Sprintf("line %d was cut off, probably when its run was killed: that send is not known", at))
		suspect = nil
	}
	for number := 1; ; number++ {
		text, err := reader.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			torn = len(text) > 0
			if torn {
				e, bad := parseEntry(text)
				switch {
				case suspect != nil:
					return notes, torn, suspect
				case bad == nil: // it lacks its line feed only
					return notes, torn, each(e)
				case !errors.Is(bad, errCut):
					return notes, torn, fmt.Errorf("line %d: %w", number, bad)
				}
				suspect, at = bad, number
			}
			if suspect != nil {
				cut()
			}
			return notes, torn, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return notes, false, fmt.Errorf("line %d is longer than any entry", number)
		case err != nil:
			return notes, false, fmt.Errorf("line %d: %w", number, err)
		}
		e, bad := parseEntry(bytes.TrimSuffix(text, []byte("\n")))
		if suspect != nil {
			if bad != nil || runs[e.Run] {
				return notes, false, suspect
			}
			cut()
		}
		if bad != nil {
			bad = fmt.Errorf("line %d: %w", number, bad)
			if !errors.Is(bad, errCut) {
				return notes, false, bad
			}
			suspect, at = bad, number
			continue
		}
		runs[e.Run] = true
		if err := each(e); err != nil {
			return notes, false, err
		}
	}
}
