package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"fifoproof/internal/cli"
	"fifoproof/internal/contenthash"
)

type hashCmd struct {
	File      []string `arg:"" optional:"" help:"Files to hash, each one JSON body; '-' is standard input (default)."`
	Lines     bool     `help:"Take each line as a body of its own; its name is the line number. Blank lines are skipped."`
	Canonical bool     `help:"Print the canonical text, a line each, instead of its hash."`
	Strict    bool     `help:"Refuse numbers that a double would change: RFC 8785, byte for byte."`
	Exclude   []string `placeholder:"PTR" sep:"none" help:"Leave the field at this JSON pointer out ('~*' is every array element). Can be repeated."`
	Include   []string `placeholder:"PTR" sep:"none" help:"Hash only the fields at these JSON pointers. Can be repeated."`
	Group     string   `placeholder:"NAME" help:"Put this message group into the hash, as 'producer --hash-group' does."`
}

func (c *hashCmd) run(ctx context.Context, stdio cli.Stdio, _ cli.Env) int {
	const name = program + " hash"
	hash, err := contenthash.New(contenthash.Options{Strict: c.Strict, Exclude: c.Exclude, Include: c.Include, WithGroup: c.Group != ""})
	if err == nil && c.Canonical && c.Group != "" {
		err = errors.New("the canonical text has no group: --canonical and --group exclude each other")
	}
	if err != nil {
		cli.Report(stdio.Err, name, cli.Hint(err, "'%s --help' says what goes together", name))
		return cli.Usage
	}
	if len(c.File) == 0 {
		c.File = []string{"-"}
	}
	out := bufio.NewWriter(stdio.Out)
	code := cli.OK
	each := func(where, label string, body []byte) {
		line, err := c.line(hash, label, body)
		if err != nil {
			cli.Report(stdio.Err, name, fmt.Errorf("%s: %w", where, err))
			code = cli.Failed
			return
		}
		_, _ = out.Write(line) // a bufio.Writer keeps its error for Flush
	}
	for _, file := range c.File {
		if ctx.Err() != nil {
			return cli.Harness
		}
		if err := c.read(file, stdio.In, each); err != nil {
			cli.Report(stdio.Err, name, fmt.Errorf("reading %s: %w", file, err))
			code = cli.Failed
		}
	}
	if err := out.Flush(); err != nil {
		cli.Report(stdio.Err, name, fmt.Errorf("printing the hashes: %w", err))
		return cli.Harness
	}
	return code
}

// line is what is printed for one body.
func (c *hashCmd) line(hash *contenthash.Hasher, label string, body []byte) ([]byte, error) {
	if c.Canonical {
		text, err := hash.Canonical(nil, body)
		return append(text, '\n'), err
	}
	id, err := hash.ID(body, c.Group)
	if err != nil {
		return nil, err
	}
	return []byte(sumLine(id, label)), nil
}

// sumLine is a line as sha256sum prints it: a name with a backslash or a line break
// is escaped, and the line begins with a backslash then.
func sumLine(id, name string) string {
	escaped := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(name)
	if escaped != name {
		id = `\` + id
	}
	return id + "  " + escaped + "\n"
}

// read hands out the bodies of one file: where each stands, for an error, and the
// name it is printed under.
func (c *hashCmd) read(file string, stdin io.Reader, each func(where, label string, body []byte)) error {
	source := stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return errors.Unwrap(err) // the caller names the file
		}
		defer opened.Close()
		source = opened
	}
	if !c.Lines {
		body, err := io.ReadAll(source)
		if err == nil {
			each(file, file, body)
		}
		return err
	}
	lines := bufio.NewReader(source)
	for number := 1; ; number++ {
		body, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(bytes.Trim(body, " \t\r\n")) > 0 { // JSON white space, and no other
			label := strconv.Itoa(number)
			if len(c.File) > 1 {
				label = file + ":" + label
			}
			each(fmt.Sprintf("%s: line %d", file, number), label, bytes.TrimSuffix(body, []byte("\n")))
		}
		if err != nil {
			return nil
		}
	}
}
