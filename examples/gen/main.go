// Command gen writes examples/orders.ndjson: orders of a shop, some of them twice, the
// second time in another spelling. There is neither option nor chance in it, so that
// the file can be made again, to the byte:
//
//	go run ./examples/gen > examples/orders.ndjson
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

const (
	orders = 220 // different events
	every  = 5   // every fifth order comes again
)

// repeat is an order that comes again.
type repeat struct {
	order value
	style style
	after int // the order behind which it stands
}

// write writes the orders, and every fifth of them once more some lines later, as if
// another service, or the same one after an update, had sent it again.
func write(w io.Writer) error {
	out := bufio.NewWriter(w)
	var waiting []repeat
	for n := range orders {
		order := newOrder(n)
		if err := line(out, order, asSent); err != nil {
			return err
		}
		if n%every == every-1 {
			kind := n / every
			waiting = append(waiting, repeat{order, respelled[kind%len(respelled)], n + 1 + kind%9})
		}
		var later []repeat
		for _, r := range waiting {
			if r.after <= n || n == orders-1 {
				if err := line(out, r.order, r.style); err != nil {
					return err
				}
			} else {
				later = append(later, r)
			}
		}
		waiting = later
	}
	return out.Flush()
}

func line(out io.Writer, v value, s style) error {
	_, err := fmt.Fprintln(out, s.print(v))
	return err
}
