// Command consumer receives from an Amazon SQS FIFO queue, records every delivery
// and carries out each event once; its subcommand receipts prints the record.
package main

import (
	"os"

	"fifoproof/internal/cli"
)

func main() { os.Exit(cli.Main(run)) }
