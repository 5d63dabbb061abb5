package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"fifoproof/internal/consumer"
)

const warningPrefix = "warning: "

// redraw is how often the line of progress may change.
const redraw = 100 * time.Millisecond

// talk writes to standard error: warnings, notes, and on a terminal one line of
// progress that is overwritten. It is the consumer's slog handler. With --log json
// every line is a JSON object instead.
type talk struct {
	mu       sync.Mutex
	w        io.Writer
	json     slog.Handler // nil: text
	terminal bool
	drawn    time.Time
	line     bool // a line of progress stands there
}

func newTalk(w io.Writer, terminal bool, format string) *talk {
	if format == logJSON {
		return &talk{w: w, json: slog.NewJSONHandler(w, nil)}
	}
	return &talk{w: w, terminal: terminal}
}

// sayf writes one line. One that begins with "warning: " is one.
func (t *talk) sayf(format string, args ...any) {
	if t.json != nil {
		text, level := fmt.Sprintf(format, args...), slog.LevelInfo
		if cut, warning := strings.CutPrefix(text, warningPrefix); warning {
			text, level = cut, slog.LevelWarn
		}
		_ = t.json.Handle(context.Background(), slog.NewRecord(time.Now(), level, text, 0))
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	_, _ = fmt.Fprintf(t.w, name+": "+format+"\n", args...)
}

// progress shows counts where a person may be watching.
func (t *talk) progress(s consumer.Summary) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.terminal || time.Since(t.drawn) < redraw {
		return
	}
	t.erase()
	t.drawn, t.line = time.Now(), true
	if s.Deliveries == 0 {
		_, _ = fmt.Fprint(t.w, name+": waiting for messages, Ctrl-C stops")
		return
	}
	_, _ = fmt.Fprint(t.w, name+": "+sentence(s))
}

// clear takes the line of progress away.
func (t *talk) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
}

func (t *talk) erase() {
	if t.line {
		_, _ = fmt.Fprint(t.w, "\r\x1b[K")
		t.line = false
	}
}

// Enabled leaves out what is not for the person at the terminal.
func (t *talk) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle writes a record as a sentence and its details.
func (t *talk) Handle(ctx context.Context, r slog.Record) error {
	if t.json != nil {
		return t.json.Handle(ctx, r)
	}
	var b strings.Builder
	if r.Level >= slog.LevelWarn {
		b.WriteString(warningPrefix)
	}
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		if text := detail(a.Value); text != "" {
			b.WriteString(" · " + a.Key + " " + text)
		}
		return true
	})
	t.sayf("%s", b.String())
	return nil
}

// WithAttrs and WithGroup are not used by the consumer; its records come whole.
func (t *talk) WithAttrs([]slog.Attr) slog.Handler { return t }

// WithGroup is explained with WithAttrs.
func (t *talk) WithGroup(string) slog.Handler { return t }

func detail(v slog.Value) string {
	if v.Kind() == slog.KindTime {
		return local(v.Time())
	}
	return clean(v.String())
}

// local is a time as the user's own clock shows it.
func local(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05.000") //nolint:gosmopolitan // the user's own clock is meant
}

// clean takes control characters out of what a queue or a body said: they could
// steer a terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

func plural(n int64, one, many string) string {
	if n == 1 {
		many = one
	}
	return thousands(n) + " " + many
}

func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
