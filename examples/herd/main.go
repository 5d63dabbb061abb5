// Command herd shows what full jitter is for: clients that fail together and retry
// with and without it, and how many of their calls fall together.
//
//	go run ./examples/herd                        # text, and the table over all seeds
//	go run ./examples/herd --svg docs/backoff.svg # the picture as well
//
// It exits with 1 where jitter does not make the peak of the first setting as many
// times lower as it must, with any seed. There is no chance in it: seeds are fixed.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
)

func main() {
	svg := flag.String("svg", "", "write the picture to `FILE`")
	flag.Parse()
	reached, err := run(*svg)
	if err != nil {
		fmt.Fprintln(os.Stderr, "herd:", err)
	}
	if err != nil || !reached {
		os.Exit(1)
	}
}

func run(svg string) (reached bool, err error) {
	if svg != "" {
		var picture bytes.Buffer
		if err := writePicture(&picture); err != nil {
			return false, err
		}
		if err := os.WriteFile(svg, picture.Bytes(), 0o644); err != nil {
			return false, err // it says which file
		}
	}
	return writeText(os.Stdout)
}
