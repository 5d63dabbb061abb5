package emulator_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

// One message sent, received and deleted by the SDK, in process, behind a backlog
// of 100,000 messages in as many groups as stated.
func BenchmarkSendReceiveDelete(b *testing.B) {
	for _, groups := range []int{0, 1, 100_000} {
		name := "empty"
		if groups > 0 {
			name = fmt.Sprintf("backlog=100000/groups=%d", groups)
		}
		b.Run(name, func(b *testing.B) {
			server := emulator.New(emulator.Options{Clock: clock.NewVirtual(start)})
			sdk := client(server)
			if err := server.CreateQueue("a.fifo"); err != nil {
				b.Fatal(err)
			}
			queue, next := queueURL("a.fifo"), 0
			send := func() {
				id := strconv.Itoa(next)
				next++
				if _, err := sdk.SendMessage(b.Context(), letter(queue, strconv.Itoa(next%max(groups, 1)), id, id)); err != nil {
					b.Fatal(err)
				}
			}
			if groups > 0 {
				for range 100_000 {
					send()
				}
			}
			for b.Loop() {
				send()
				out, err := sdk.ReceiveMessage(b.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue})
				if err != nil || len(out.Messages) != 1 {
					b.Fatal(out, err)
				}
				_, err = sdk.DeleteMessage(b.Context(), &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: out.Messages[0].ReceiptHandle})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
