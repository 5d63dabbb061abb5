package main

import (
	"fmt"
	"io"
	"os"

	"fifoproof/internal/cli"
	"fifoproof/internal/producer"
)

const stdinArgument = "-"

// inputs are the opened files of a command line, and how many bytes they hold where
// that is known (else -1).
type inputs struct {
	list  []producer.Input
	files []*os.File
	bytes int64
}

// openInputs opens all files before anything is sent, so that a misspelled name does
// not show half-way.
func openInputs(names []string, stdio cli.Stdio) (*inputs, error) {
	if len(names) == 0 {
		names = []string{stdinArgument}
	}
	in := &inputs{}
	for _, name := range names {
		if name == stdinArgument {
			in.add("stdin", stdio.In)
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			in.close()
			return nil, fmt.Errorf("opening the input: %w", err)
		}
		in.files = append(in.files, file)
		if info, err := file.Stat(); err == nil && info.IsDir() {
			in.close()
			return nil, fmt.Errorf("opening the input: %s is a directory", name)
		}
		in.add(name, file)
	}
	return in, nil
}

func (in *inputs) add(name string, reader io.Reader) {
	size := sizeOf(reader)
	if size < 0 || in.bytes < 0 {
		in.bytes = -1
	} else {
		in.bytes += size
	}
	in.list = append(in.list, producer.Input{Name: name, Reader: reader, Live: size < 0})
}

// count has seen called with the bytes of every read.
func (in *inputs) count(seen func(int)) {
	for i := range in.list {
		in.list[i].Reader = &countedReader{in.list[i].Reader, seen}
	}
}

func (in *inputs) close() {
	for _, file := range in.files {
		_ = file.Close() // it was only read
	}
}

// sizeOf is the size of a regular file, or -1: of anything else the end is not known.
func sizeOf(reader io.Reader) int64 {
	file, ok := reader.(*os.File)
	if !ok {
		return -1
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

type countedReader struct {
	io.Reader
	seen func(int)
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.seen(n)
	return n, err
}
