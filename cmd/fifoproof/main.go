// Command fifoproof proves what an Amazon SQS FIFO queue does with duplicates.
package main

import (
	"os"

	"fifoproof/internal/cli"
)

func main() { os.Exit(cli.Main(run)) }
