package producer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Input is one named stream of newline-delimited JSON.
type Input struct {
	Name   string
	Reader io.Reader

	// Live marks a pipe or terminal, whose next line may be long in coming: what is
	// in hand is then sent after Config.Linger, and a stopped run does not read on
	// to count the rest.
	Live bool
}

// line is one line of an input, or the end of the reading.
type line struct {
	input  int // index
	number int // from 1
	text   []byte
	length int64 // without its ending; text is nil where it is over maxBody
	err    error // reading failed; nothing follows
}

// readAhead is how many lines wait for the sender.
const readAhead = 16

// scan reads all inputs in order, in a goroutine of its own, because a read from a
// pipe can be neither interrupted nor timed out. The goroutine ends with the inputs,
// or soon after done is closed: at the end of the read it is in.
func scan(inputs []Input, done <-chan struct{}) <-chan line {
	out := make(chan line, readAhead)
	go func() {
		defer close(out)
		for i, input := range inputs {
			lines := lineReader{r: bufio.NewReaderSize(input.Reader, 64<<10)}
			for {
				l, err := lines.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					l.err = fmt.Errorf("reading %s at line %d: %w", input.Name, l.number, err)
				}
				l.input = i
				select {
				case out <- l:
				case <-done:
					return
				}
				if err != nil {
					return
				}
			}
		}
	}()
	return out
}

// lineReader cuts a stream into lines of any length, keeping at most what SQS takes.
type lineReader struct {
	r      *bufio.Reader
	number int
}

// next is the next line that is not blank, or io.EOF.
func (s *lineReader) next() (line, error) {
	for {
		text, length, err := s.one()
		if err != nil && length == 0 {
			return line{number: s.number + 1}, err
		}
		s.number++
		if err != nil && !errors.Is(err, io.EOF) {
			return line{number: s.number}, err
		}
		if text == nil || len(bytes.Trim(text, " \t\r")) > 0 {
			return line{number: s.number, text: text, length: length}, nil
		}
	}
}

// one reads to the next line feed or the end. text is nil where the line is too long
// to be a message; length is that of the line without its ending. An error with a
// length above 0 comes after part of a line.
func (s *lineReader) one() (text []byte, length int64, err error) {
	const keep = maxBody + len("\r\n")
	text = []byte{}
	for {
		var piece []byte
		piece, err = s.r.ReadSlice('\n')
		length += int64(len(piece))
		if text != nil {
			if len(text)+len(piece) <= keep {
				text = append(text, piece...)
			} else {
				text = nil
			}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		ended := err == nil
		if text == nil {
			if ended {
				length-- // a carriage return before it is not looked for in what was dropped
			}
			return nil, length, err
		}
		if ended {
			text = bytes.TrimSuffix(text[:len(text)-1], []byte("\r"))
		}
		if len(text) > maxBody {
			return nil, int64(len(text)), err
		}
		if ended {
			// An empty line has length 0 too, but no error.
			return text, int64(len(text)), nil
		}
		return text, length, err
	}
}
