package emulator_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

func wait(seconds int32) func(*sqs.ReceiveMessageInput) {
	return func(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds = seconds }
}

// On a virtual clock a long poll moves time: to what comes next, else to its end.
func TestLongPollMovesVirtualTime(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo", "DelaySeconds", "5")
	passed := func() time.Duration { return e.clock.Now().Sub(start) }

	require.Empty(t, e.receive(queue, wait(20)))
	require.Equal(t, 20*time.Second, passed())

	e.send(queue, "g", "x", "one")
	require.Len(t, e.receive(queue, wait(20)), 1)
	require.Equal(t, 25*time.Second, passed(), "the delay's end")

	require.Empty(t, e.receive(queue, wait(20)))
	require.Equal(t, 45*time.Second, passed(), "the visibility ends later")
	require.Len(t, e.receive(queue, wait(20)), 1)
	require.Equal(t, 55*time.Second, passed(), "the visibility's end")

	require.Empty(t, e.receive(queue))
	require.Equal(t, 55*time.Second, passed(), "a short poll takes no time")
}

func TestQueueWaitIsTheDefault(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	queue := e.create("a.fifo", "ReceiveMessageWaitTimeSeconds", "7")
	require.Empty(t, e.receive(queue))
	require.Equal(t, 7*time.Second, e.clock.Now().Sub(start))
	r := call(t, e.server, "ReceiveMessage", `{"QueueUrl":"`+queue+`","WaitTimeSeconds":0}`)
	require.Equal(t, "{}", r.body, "an empty receive has no Messages")
	require.Equal(t, 7*time.Second, e.clock.Now().Sub(start))
}

// On a clock that stands still an empty long poll answers empty after the clock's
// patience, in real time.
func TestLongPollOnAClockThatStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		manual := clock.NewManual(start, 50*time.Millisecond)
		server := emulator.New(emulator.Options{Clock: manual})
		e := &endpoint{t: t, server: server, sdk: client(server)}
		queue := e.create("a.fifo")
		before := time.Now()
		require.Empty(t, e.receive(queue, wait(20)))
		require.Equal(t, 50*time.Millisecond, time.Since(before))
		require.Equal(t, start, manual.Now())

		e.send(queue, "g", "x", "one")
		require.Len(t, e.receive(queue, wait(20)), 1)
		// Somebody moves the clock while the poll waits.
		go func() {
			time.Sleep(10 * time.Millisecond)
			manual.Advance(30 * time.Second)
		}()
		require.Len(t, e.receive(queue, wait(20)), 1)
		require.Equal(t, 60*time.Millisecond, time.Since(before))
	})
}

// In real time, which a bubble makes short: delay, visibility, and long polls that
// end by whatever happens to the queue.
func TestLongPollInRealTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seconds int32 // 0: 20
		locked  bool  // a message is in flight, a second one waits behind it
		after   time.Duration
		do      func(t *testing.T, e *endpoint, queue string, held types.Message)
		took    time.Duration
		want    []string // nil: the queue does not exist any more
	}{
		"nothing happens": {took: 20 * time.Second, want: []string{}},
		"a send": {
			after: 3 * time.Second,
			do: func(_ *testing.T, e *endpoint, queue string, _ types.Message) {
				e.send(queue, "g", "x", "sent")
			},
			took: 3 * time.Second, want: []string{"sent"},
		},
		"a duplicate is no event": {
			locked: true, after: 3 * time.Second,
			do: func(_ *testing.T, e *endpoint, queue string, _ types.Message) {
				e.send(queue, "g", "first", "again")
			},
			took: 20 * time.Second, want: []string{},
		},
		"a delete frees the group": {
			locked: true, after: 3 * time.Second,
			do: func(_ *testing.T, e *endpoint, queue string, held types.Message) {
				e.delete(queue, held)
			},
			took: 3 * time.Second, want: []string{"second"},
		},
		"the visibility timeout ends": {
			seconds: 20, locked: true, after: 15 * time.Second,
			do: func(t *testing.T, e *endpoint, queue string, held types.Message) {
				_, err := e.sdk.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
					QueueUrl: &queue, ReceiptHandle: held.ReceiptHandle, VisibilityTimeout: 2,
				})
				require.NoError(t, err)
			},
			took: 17 * time.Second, want: []string{"first", "second"},
		},
		"a batch releases it": {
			locked: true, after: 3 * time.Second,
			do: func(t *testing.T, e *endpoint, queue string, held types.Message) {
				id := "x"
				_, err := e.sdk.ChangeMessageVisibilityBatch(t.Context(), &sqs.ChangeMessageVisibilityBatchInput{
					QueueUrl: &queue, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
						{Id: &id, ReceiptHandle: held.ReceiptHandle, VisibilityTimeout: 0},
					},
				})
				require.NoError(t, err)
			},
			took: 3 * time.Second, want: []string{"first", "second"},
		},
		"the queue is deleted": {
			after: 3 * time.Second,
			do: func(t *testing.T, e *endpoint, queue string, _ types.Message) {
				_, err := e.sdk.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &queue})
				require.NoError(t, err)
			},
			took: 3 * time.Second,
		},
		"a purge leaves it waiting": {
			locked: true, after: 3 * time.Second,
			do: func(t *testing.T, e *endpoint, queue string, _ types.Message) {
				_, err := e.sdk.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &queue})
				require.NoError(t, err)
			},
			took: 20 * time.Second, want: []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := emulator.New(emulator.Options{})
				e := &endpoint{t: t, server: server, sdk: client(server)}
				queue := e.create("a.fifo", "VisibilityTimeout", "60")
				var held types.Message
				if c.locked {
					e.send(queue, "g", "first", "first")
					held = e.receive(queue)[0]
					e.send(queue, "g", "second", "second")
				}
				if c.do != nil {
					go func() {
						time.Sleep(c.after)
						c.do(t, e, queue, held)
					}()
				}
				before := time.Now()
				out, err := e.sdk.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
					QueueUrl: &queue, MaxNumberOfMessages: 10, WaitTimeSeconds: 20,
				})
				require.Equal(t, c.took, time.Since(before))
				synctest.Wait()
				if c.want == nil {
					requireError(t, err, simple+"NonExistentQueue", 400)
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.want, bodies(out.Messages))
			})
		})
	}
}

func TestLongPollEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := emulator.New(emulator.Options{})
		e := &endpoint{t: t, server: server, sdk: client(server)}
		queue := e.create("a.fifo")
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		before := time.Now()
		_, err := e.sdk.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &queue, WaitTimeSeconds: 20})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 2*time.Second, time.Since(before))
		_, err = e.sdk.ListQueues(ctx, nil)
		require.Error(t, err, "the transport honours a context that has ended")

		// And it takes nothing with it.
		e.send(queue, "g", "x", "one")
		require.Equal(t, "1", e.receive(queue)[0].Attributes["ApproximateReceiveCount"])
	})
}

// Many long polls on one queue: each message goes to exactly one of them, each
// group in order.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := emulator.New(emulator.Options{})
		e := &endpoint{t: t, server: server, sdk: client(server)}
		queue := e.create("a.fifo")
		const groups, each = 8, 25
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()

		var mu sync.Mutex
		got := map[string][]string{}
		all := make(chan struct{})
		var work sync.WaitGroup
		for range 6 {
			work.Go(func() {
				for ctx.Err() == nil {
					out, err := e.sdk.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
						QueueUrl: &queue, MaxNumberOfMessages: 3, WaitTimeSeconds: 20,
						MessageSystemAttributeNames: []types.MessageSystemAttributeName{"MessageGroupId"},
					})
					if err != nil {
						continue // only by cancellation
					}
					for _, m := range out.Messages {
						mu.Lock()
						group := m.Attributes["MessageGroupId"]
						got[group] = append(got[group], *m.Body)
						n := 0
						for _, g := range got {
							n += len(g)
						}
						mu.Unlock()
						e.delete(queue, m)
						if n == groups*each {
							close(all)
						}
					}
				}
			})
		}
		want := map[string][]string{}
		for g := range groups {
			group := string(rune('a' + g))
			bodies := make([]string, each)
			for i := range each {
				bodies[i] = string(rune('A' + i))
			}
			want[group] = bodies
			work.Go(func() {
				for _, body := range bodies {
					e.send(queue, group, group+body, body)
					e.send(queue, group, group+body, "again")
				}
			})
		}
		<-all
		time.Sleep(time.Minute)
		cancel()
		work.Wait()
		require.Equal(t, want, got)
	})
}
