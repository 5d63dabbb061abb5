package handler_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// event is one with every field set.
func event() handler.Event {
	return handler.Event{
		Delivery: receipt.Delivery{
			Queue: "orders.fifo", MessageID: "m-1", Group: "g-1", SequenceNumber: "18849496460467696128", ReceiveCount: 3,
		},
		Body:           `{"account":"alice","amount":12.34}`,
		Traceparent:    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		Attempt:        2,
		IdempotencyKey: strings.Repeat("ab", 32),
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	h, err := handler.NewPrint(&out)
	require.NoError(t, err)
	e := event()
	e.Body = "{\"html\":\"<b>&\",\n\"big\":9007199254740993}"
	result, err := h.Call(t.Context(), e)
	require.NoError(t, err)
	require.Empty(t, result)
	require.Equal(t, `{"message_id":"m-1","group":"g-1","sequence_number":"18849496460467696128","idempotency_key":"`+e.IdempotencyKey+
		`","attempt":2,"body":"{\"html\":\"<b>&\",\n\"big\":9007199254740993}"}`+"\n", out.String())
}

// Lanes print at the same time, through a buffer: whole lines, all of them out when
// Call returns.
func TestPrintConcurrently(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	h, err := handler.NewPrint(bufio.NewWriter(&out))
	require.NoError(t, err)
	var lanes sync.WaitGroup
	for n := range 50 {
		lanes.Go(func() {
			e := event()
			e.MessageID = fmt.Sprint(n)
			_, err := h.Call(t.Context(), e)
			require.NoError(t, err)
		})
	}
	lanes.Wait()
	seen := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &got))
		seen[got["message_id"].(string)] = true
	}
	require.Len(t, seen, 50)
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestPrintOnAFullDisk(t *testing.T) {
	t.Parallel()
	h, err := handler.NewPrint(full{})
	require.NoError(t, err)
	_, err = h.Call(t.Context(), event())
	require.EqualError(t, err, "printing message m-1: no space left on device")
	require.ErrorAs(t, err, new(*handler.HaltError))
	buffered, err := handler.NewPrint(bufio.NewWriter(full{})) // says so when flushed
	require.NoError(t, err)
	_, err = buffered.Call(t.Context(), event())
	require.ErrorAs(t, err, new(*handler.HaltError))
}
