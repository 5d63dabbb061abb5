package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
)

const (
	chunkSize = 1 << 20
	// longestLine bounds a line, as the producer's reader does.
	longestLine = 1 << 20
)

// chunk is some whole lines of a file.
type chunk struct {
	at   int64  // byte offset of the first line
	text []byte // with the line feed of each line but, at the end of the file, the last
}

// lineError is about a line, known by its offset until its number is.
type lineError struct {
	at  int64
	err error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

// lineIndex finds the number of a line from its offset.
type lineIndex struct {
	file   io.ReaderAt
	starts []int64 // offsets at which chunks begin
	before []int64 // lines before each
	lines  int64   // in all
}

func (x *lineIndex) add(at, lines int64) {
	x.starts = append(x.starts, at)
	x.before = append(x.before, x.lines)
	x.lines += lines
}

// number is the number, from 1, of the line at an offset.
func (x *lineIndex) number(at int64) (int64, error) {
	i := sort.Search(len(x.starts), func(i int) bool { return x.starts[i] > at }) - 1
	if i < 0 {
		return x.lines + 1, nil // beyond what was read: the line that stopped it
	}
	text := make([]byte, at-x.starts[i])
	if _, err := x.file.ReadAt(text, x.starts[i]); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return x.before[i] + int64(bytes.Count(text, []byte("\n"))) + 1, nil
}

// job is a chunk on its way through a worker.
type job[R any] struct {
	chunk  chunk
	result R
	err    error
	done   chan struct{}
}

// eachChunk reads the first size bytes of a file and gives take what parse makes of
// each chunk, in the order of the file. Each of the workers has a parse of its own,
// made by newParse; parse must not keep the chunk's text. The first error of parse or
// take ends it.
func eachChunk[R any](ctx context.Context, file io.ReaderAt, size int64, workers int, newParse func() func(chunk) (R, error), take func(chunk, R) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	depth := 2 * workers
	work, order := make(chan *job[R]), make(chan *job[R], depth)
	spare := make(chan []byte, depth+workers+2)
	for range workers {
		parse := newParse()
		running.Go(func() {
			for j := range work {
				j.result, j.err = parse(j.chunk)
				close(j.done)
			}
		})
	}
	var readErr error
	running.Go(func() {
		defer close(order)
		defer close(work)
		readErr = cut(ctx, file, size, spare, func(c chunk) bool {
			j := &job[R]{chunk: c, done: make(chan struct{})}
			select {
			case order <- j:
			case <-ctx.Done():
				return false
			}
			select {
			case work <- j:
				return true
			case <-ctx.Done():
				j.err = ctx.Err()
				close(j.done)
				return false
			}
		})
	})
	for j := range order {
		<-j.done
		if j.err != nil {
			return j.err
		}
		if err := take(j.chunk, j.result); err != nil {
			return err
		}
		select {
		case spare <- j.chunk.text:
		default:
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return readErr
}

// cut reads a file in chunks of whole lines. spare holds buffers to use again.
func cut(ctx context.Context, file io.ReaderAt, size int64, spare chan []byte, give func(chunk) bool) error {
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var buffer []byte
		select {
		case buffer = <-spare:
		default:
		}
		if cap(buffer) < chunkSize {
			buffer = make([]byte, chunkSize)
		}
		buffer = buffer[:min(int64(cap(buffer)), size-at)]
		n, err := file.ReadAt(buffer, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 {
			return nil // the file has become shorter
		}
		text := buffer[:n]
		if at+int64(n) < size {
			end := bytes.LastIndexByte(text, '\n') + 1
			if end == 0 {
				return &lineError{at, fmt.Errorf("longer than %d bytes", longestLine)}
			}
			text = text[:end]
		}
		if !give(chunk{at, text}) {
			return nil
		}
		at += int64(len(text))
	}
	return nil
}

// eachLine gives do the lines of a chunk with their offsets, without their line
// feeds, and returns how many there are. ended is false for a last line without one.
func (c chunk) eachLine(do func(at int64, line []byte, ended bool) error) (lines int64, err error) {
	text, at := c.text, c.at
	for len(text) > 0 {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		lines++
		if err := do(at, line, ended); err != nil {
			return lines, err
		}
		at += int64(len(text) - len(rest))
		text = rest
	}
	return lines, nil
}
