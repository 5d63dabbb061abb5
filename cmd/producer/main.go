// Command producer sends newline-delimited JSON to an Amazon SQS FIFO queue, each line
// under a deduplication ID made of its content, and reports what the queue made of it.
package main

import (
	"os"

	"fifoproof/internal/cli"
)

func main() { os.Exit(cli.Main(run)) }
