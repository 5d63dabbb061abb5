package producer

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"
)

// A pipe that falls silent gets what it sent so far through, long before ten lines.
func TestLiveInputIsSentWhenItFallsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sender := telling{make(chan int, 1)}
		p, err := New(Config{Queue: testQueue, Linger: time.Second}, sender)
		require.NoError(t, err)
		reader, writer := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			_, err := p.Run(t.Context(), []Input{{Name: "stdin", Reader: reader, Live: true}}, nil)
			ended <- err
		}()
		for i := range 3 {
			_, err := fmt.Fprintf(writer, "{\"n\":%d}\n", i)
			require.NoError(t, err)
		}
		synctest.Wait()
		silence := time.Now()
		require.Equal(t, 3, <-sender.entries)
		require.Equal(t, time.Second, time.Since(silence))
		require.NoError(t, writer.Close())
		require.NoError(t, <-ended)
	})
}

// telling takes everything and tells how many entries came.
type telling struct{ entries chan int }

func (s telling) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	s.entries <- len(in.Entries)
	return (&willing{}).SendMessageBatch(ctx, in)
}

// silent never answers; it returns when its context ends.
type silent struct{ called chan struct{} }

func (s silent) SendMessageBatch(ctx context.Context, _ *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	s.called <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestInterruptedWhileTheQueueIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sender := silent{make(chan struct{}, 1)}
		p, err := New(Config{Queue: testQueue, Grace: 2 * time.Second}, sender)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-sender.called
			<-time.After(time.Second) // bubble time
			cancel()
		}()
		var got []Record
		began := time.Now()
		sum, err := p.Run(ctx, []Input{text("x", `{}`)}, func(r Record) { got = append(got, r) })
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 3*time.Second, time.Since(began), "a second until the signal, two of grace")
		require.True(t, sum.Interrupted)
		require.Equal(t, 1, sum.Unknown)
		require.Equal(t, Unknown, got[0].Outcome)
		require.True(t, got[0].Attempts[0].End.IsZero())
	})
}

func TestAttemptTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sender := silent{make(chan struct{}, 2)}
		p, err := New(Config{Queue: testQueue, Attempts: 2, AttemptTimeout: 5 * time.Second, Jitter: func(time.Duration) time.Duration { return time.Second }}, sender)
		require.NoError(t, err)
		began := time.Now()
		_, err = p.Run(t.Context(), []Input{text("x", `{}`)}, nil)
		require.ErrorContains(t, err, "no answer in time (2 attempts)")
		require.Equal(t, 11*time.Second, time.Since(began))
	})
}

// Ctrl-C ends a run that waits for a pipe, and says what was in hand.
func TestInterruptedWhileWaitingForInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		p, err := New(Config{Queue: testQueue, Linger: time.Hour}, q)
		require.NoError(t, err)
		reader, writer := io.Pipe()
		defer writer.Close() // ends the read that is under way
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _ = io.WriteString(writer, "{\"n\":1}\n")
			synctest.Wait()
			cancel()
		}()
		var got []Record
		sum, err := p.Run(ctx, []Input{{Name: "stdin", Reader: reader, Live: true}}, func(r Record) { got = append(got, r) })
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, q.calls)
		require.Equal(t, Unsent, got[0].Outcome)
		require.Equal(t, 1, sum.Unsent)
		require.True(t, sum.Unread)
	})
}

func TestFullJitter(t *testing.T) {
	t.Parallel()
	require.Zero(t, fullJitter(0))
	low, high := time.Hour, time.Duration(0)
	for range 1000 {
		d := fullJitter(time.Second)
		low, high = min(low, d), max(high, d)
	}
	require.GreaterOrEqual(t, low, time.Duration(0))
	require.Less(t, high, time.Second)
	require.Less(t, low, 100*time.Millisecond, "full jitter starts at zero; 1,000 draws miss a tenth with p = 1e-46")
	require.Greater(t, high, 900*time.Millisecond)
}
