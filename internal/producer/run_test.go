package producer

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/clock"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/window"
)

func TestRunSendsBytesAsGiven(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	sum, err := b.send(t.Context(), "{\"b\":1,\t\"a\":2}\r", "", "   \t", " {\"a\": 2.0, \"b\":1e0 } ", `{"a":3}`)
	require.NoError(t, err)
	require.Equal(t, []string{"{\"b\":1,\t\"a\":2}", " {\"a\": 2.0, \"b\":1e0 } ", `{"a":3}`}, b.queue.bodies(0))
	require.Equal(t, []string{"1 accepted", "4 duplicate of line 1", "5 accepted"}, outcomes(b.records))
	require.Equal(t, 3, sum.Lines)
	require.Equal(t, 2, sum.Accepted)
	require.Equal(t, 1, sum.Duplicate)
}

func TestRunEntryIsComplete(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Group = "g-1" })
	_, err := b.send(t.Context(), `{"b": 1, "a": 2}`)
	require.NoError(t, err)
	// printf '{"a":2,"b":1}' | sha256sum
	const id = "d3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772"
	e := b.queue.calls[0].Entries[0]
	require.Equal(t, testQueue, *b.queue.calls[0].QueueUrl)
	require.Equal(t, id, *e.MessageDeduplicationId)
	require.Equal(t, "g-1", *e.MessageGroupId)
	require.Zero(t, e.DelaySeconds, "SQS refuses DelaySeconds on a FIFO queue")
	require.Len(t, e.MessageAttributes, 2)
	require.Equal(t, id, *e.MessageAttributes[AttributeKey].StringValue)
	require.Equal(t, id, *e.MessageAttributes[AttributeDigest].StringValue)
	r := b.records[0]
	require.Equal(t, messageID(1), r.MessageID)
	require.Equal(t, "00000000000000000001", r.SequenceNumber)
	require.Equal(t, []Attempt{{Start: start, End: start.Add(time.Millisecond)}}, r.Attempts)
	require.Equal(t, window.Interval{Start: start, End: start.Add(time.Millisecond)}, r.Interval())
}

func TestRunDigestLeavesGroupOut(t *testing.T) {
	t.Parallel()
	hash, err := contenthash.New(contenthash.Options{WithGroup: true, Exclude: []string{"/at"}})
	require.NoError(t, err)
	b := newBench(t, func(c *Config) { c.Hash = hash; c.GroupPointer = "/g" })
	_, err = b.send(t.Context(), `{"g":"x","at":1}`, `{"g":"x","at":2}`)
	require.NoError(t, err)
	// printf '{"g":"x"}' | sha256sum
	require.Equal(t, "1b888f99b0b2ce2ef9bccdf38526a78a98bc375629f4a402b5b3b164e7309823", b.records[0].BodyDigest)
	require.NotEqual(t, b.records[0].BodyDigest, b.records[0].ID)
	require.Equal(t, []string{"1 accepted", "2 duplicate of line 1"}, outcomes(b.records))
}

func TestRunRetriesOnlyWhatFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, fails("InternalError", false, 1, 3))
	sum, err := b.send(t.Context(), numbered(12)...)
	require.NoError(t, err)
	require.Equal(t, []string{`{"n":2}`, `{"n":4}`}, b.queue.bodies(1), "the retry goes before the next batch")
	require.Equal(t, []string{`{"n":11}`, `{"n":12}`}, b.queue.bodies(2))
	require.Equal(t, 12, sum.Accepted)
	require.Equal(t, 2, sum.Retries)
	second := b.records[1]
	require.Equal(t, second.ID, *b.queue.calls[0].Entries[1].MessageDeduplicationId)
	require.Equal(t, second.ID, *b.queue.calls[1].Entries[0].MessageDeduplicationId, "one id over all attempts")
	require.Len(t, second.Attempts, 2)
	require.Equal(t, "InternalError: as scripted", second.Attempts[0].Error)
	require.Empty(t, second.Attempts[1].Error)
	require.Contains(t, second.Warning, "order: it comes behind line 3 of its group")
}

func TestRunLostReply(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, lost)
	sum, err := b.send(t.Context(), `{"n":1}`, `{"n":2}`)
	require.NoError(t, err)
	require.Equal(t, []string{`{"n":1}`, `{"n":2}`}, b.queue.took, "the retry was recognised by its ids")
	require.Equal(t, 2, sum.Accepted, "nobody has seen these MessageIds before")
	r := b.records[0]
	require.Equal(t, Attempt{Start: start, Error: "read tcp 127.0.0.1:9324: connection reset by peer"}, r.Attempts[0], "no answer, no end")
	require.True(t, r.Interval().End.IsZero(), "it may still be carried out")
	require.Equal(t, *b.queue.calls[0].Entries[0].MessageDeduplicationId, *b.queue.calls[1].Entries[0].MessageDeduplicationId)
}

func TestRunThrottlingKeepsOrderAndBacksOff(t *testing.T) {
	t.Parallel()
	busy := answers(&types.RequestThrottled{Message: aws.String("Rate exceeded")})
	b := newBench(t, nil, busy, busy, fails("ThrottlingException", true, 0, 1, 2))
	sum, err := b.send(t.Context(), numbered(3)...)
	require.NoError(t, err)
	require.Equal(t, numbered(3), b.queue.took)
	require.Equal(t, 3, sum.Accepted)
	require.Equal(t, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}, b.pauses)
	// Four round trips of 1 ms and half of each pause, as this test's jitter has it.
	require.Equal(t, 4*time.Millisecond+350*time.Millisecond, sum.Elapsed)
	require.Len(t, b.records[0].Attempts, 4)
	require.False(t, b.records[0].Interval().End.IsZero(), "every attempt was answered")
}

func TestRunBackoffIsCapped(t *testing.T) {
	t.Parallel()
	busy := answers(&types.RequestThrottled{})
	b := newBench(t, func(c *Config) { c.Attempts = 70; c.BackoffMax = time.Second }, repeat(busy, 69)...)
	_, err := b.send(t.Context(), `{}`)
	require.NoError(t, err)
	require.Len(t, b.pauses, 69)
	require.Equal(t, time.Second, b.pauses[68])
	require.Equal(t, 800*time.Millisecond, b.pauses[3])
}

func repeat(s step, n int) []step {
	out := make([]step, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func TestRunSenderFaultIsFinal(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, fails("InvalidParameterValue", true, 1))
	sum, err := b.send(t.Context(), numbered(3)...)
	require.NoError(t, err)
	require.Len(t, b.queue.calls, 1)
	require.Equal(t, []string{"1 accepted", "2 failed", "3 accepted"}, outcomes(b.records))
	require.Equal(t, "InvalidParameterValue: as scripted", b.records[1].Reason)
	require.Equal(t, 1, sum.Failed)
}

func TestRunEntryExhausted(t *testing.T) {
	t.Parallel()
	silent := func(q *queue, in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
		return q.take(in, func(i int) bool { return *in.Entries[i].MessageBody != `{"n":2}` }), nil
	}
	for _, c := range []struct {
		name    string
		answer  step
		outcome Outcome
		reason  string
	}{
		{"refused every time", fails("InternalError", false, 0), Failed, "InternalError: as scripted (2 attempts)"},
		{"not mentioned", silent, Unknown, "the answer does not mention the message (2 attempts); an earlier attempt may have been carried out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(c *Config) { c.Attempts = 2 }, c.answer, c.answer)
			_, err := b.send(t.Context(), `{"n":2}`)
			require.NoError(t, err, "one message that fails alone does not stop the run")
			require.Equal(t, c.outcome, b.records[0].Outcome)
			require.Equal(t, c.reason, b.records[0].Reason)
		})
	}
}

// SQS refuses a whole batch where one entry lacks something; the others must not suffer.
func TestRunFindsGuiltyEntry(t *testing.T) {
	t.Parallel()
	guilty := &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: "entry 2"}
	b := newBench(t, nil, answers(guilty), nil, answers(guilty))
	sum, err := b.send(t.Context(), numbered(4)...)
	require.NoError(t, err)
	require.Equal(t, []string{"1 accepted", "2 failed", "3 accepted", "4 accepted"}, outcomes(b.records))
	require.Equal(t, []string{`{"n":1}`, `{"n":3}`, `{"n":4}`}, b.queue.took)
	require.Equal(t, "InvalidParameterValue: entry 2", b.records[1].Reason)
	require.Equal(t, 1, sum.Failed)
}

func TestRunStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		err     error
		calls   int
		cause   Cause
		outcome Outcome
		text    string
	}{
		{"queue gone", &types.QueueDoesNotExist{Message: aws.String("gone")}, 1, CauseQueueGone, Unsent, "QueueDoesNotExist: gone"},
		{"access denied", &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}, 1, CauseAccess, Unsent, "AccessDenied: no"},
		{"silent", io.ErrUnexpectedEOF, 3, CauseUnreachable, Unknown, "unexpected EOF (3 attempts)"},
		{"throttled for ever", &types.RequestThrottled{}, 3, CauseBusy, Unsent, "RequestThrottled (3 attempts)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(c *Config) { c.Attempts = 3 }, append([]step{nil}, repeat(answers(c.err), 3)...)...)
			sum, err := b.send(t.Context(), numbered(35)...)
			var stop *StopError
			require.ErrorAs(t, err, &stop)
			require.Equal(t, c.cause, stop.Cause)
			require.Equal(t, "sending to "+testQueue+" from line 11 on: "+c.text, err.Error())
			require.ErrorIs(t, err, c.err)
			require.Len(t, b.queue.calls, 1+c.calls)
			require.Len(t, b.records, 20, "lines that were never come to have no record")
			require.Equal(t, c.outcome, b.records[10].Outcome)
			require.Equal(t, 35, sum.Lines)
			require.Equal(t, 10, sum.Accepted)
			require.Equal(t, 25, sum.Unsent+sum.Unknown)
			require.Zero(t, sum.Failed, "no line is to blame")
		})
	}
}

func TestRunReportsBadLinesInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	sum, err := b.send(t.Context(), `{"a":1,"a":2}`, `{"n":1}`, `{`, `{"n":2}`)
	require.NoError(t, err)
	require.Equal(t, []string{"1 failed", "2 accepted", "3 failed", "4 accepted"}, outcomes(b.records))
	require.Contains(t, b.records[0].Reason, `duplicate name "a"`)
	require.NotContains(t, b.records[0].Reason, "content hash", "the reason is a sentence about the line")
	require.Empty(t, b.records[0].Attempts)
	require.Equal(t, 4, sum.Lines)
	require.Equal(t, 2, sum.Failed)
	require.Equal(t, 2, sum.Accepted)
}

func TestRunManyBadLinesDoNotPileUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	lines := append([]string{`{"n":1}`}, strings.Split(strings.Repeat("{,", mostItems+5), ",")...)
	most := 0
	_, err := b.Run(t.Context(), []Input{text("x", lines...)}, func(r Record) {
		most = max(most, len(b.queue.calls))
		if r.Line == mostItems {
			require.Equal(t, 1, most, "the good line has been sent by now")
		}
	})
	require.NoError(t, err)
}

func TestRunRepeat(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.Repeat = 12 })
	sum, err := b.send(t.Context(), `{"n":1}`, `{"n":2}`)
	require.NoError(t, err)
	require.Len(t, b.records, 24)
	require.Equal(t, 12, b.records[11].Copy)
	require.Equal(t, 2, sum.Lines)
	require.Equal(t, 2, sum.Accepted)
	require.Equal(t, 22, sum.Duplicate)
	require.Equal(t, []string{`{"n":1}`, `{"n":2}`}, b.queue.took)
}

func TestRunRemembersAcrossRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	_, err := b.send(t.Context(), `{"n":1}`)
	require.NoError(t, err)
	_, err = b.send(t.Context(), `{"n":2}`, `{"n":1}`)
	require.NoError(t, err)
	require.Equal(t, []string{"1 accepted", "2 duplicate of line 1 of test.ndjson in an earlier run (run1)"}, outcomes(b.records))
}

func TestRunNamesInputsWhereThereAreSeveral(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	var got []Record
	_, err := b.Run(t.Context(), []Input{text("a", `{"n":1}`), text("b", `{"n":1}`)}, func(r Record) { got = append(got, r) })
	require.NoError(t, err)
	require.Equal(t, []string{"1 accepted", "1 duplicate of line 1 of a"}, outcomes(got))
	require.Equal(t, "b", got[1].Source)
}

func TestRunLikelyLoss(t *testing.T) {
	t.Parallel()
	const want = `likely loss: line 2 has the id of line 1, but the group "b" and not "a", and a queue with deduplication scope queue keeps only the first`
	lines := []string{`{"v":1,"g":"a"}`, `{"v":1,"g":"b"}`, `{"v":1,"g":"a"}`}
	only, err := contenthash.New(contenthash.Options{Exclude: []string{"/g"}})
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		scope window.Scope
		dry   bool
		want  []string
	}{
		{"scope queue", window.ScopeQueue, false, []string{"", want, ""}},
		{"dry run", window.ScopeQueue, true, []string{"", want, ""}},
		{"scope message group", window.ScopeGroup, false, []string{"", "", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(cfg *Config) { cfg.Hash, cfg.GroupPointer, cfg.Scope, cfg.DryRun = only, "/g", c.scope, c.dry })
			sum, err := b.send(t.Context(), lines...)
			require.NoError(t, err)
			var got []string
			for _, r := range b.records {
				got = append(got, r.Warning)
			}
			require.Equal(t, c.want, got)
			require.Equal(t, strings.Count(strings.Join(got, ""), "likely"), sum.Warnings)
		})
	}
}

// An interval that has ended loses nothing: the queue takes the ID anew.
func TestRunLikelyLossEndsWithTheWindow(t *testing.T) {
	t.Parallel()
	only, err := contenthash.New(contenthash.Options{Exclude: []string{"/g"}})
	require.NoError(t, err)
	for gap, warnings := range map[time.Duration]int{window.Length - time.Second: 1, window.Length + time.Second: 0} {
		b := newBench(t, func(cfg *Config) { cfg.Hash, cfg.GroupPointer = only, "/g" })
		_, err = b.send(t.Context(), `{"v":1,"g":"a"}`)
		require.NoError(t, err)
		require.NoError(t, clock.Sleep(t.Context(), b.clock, gap))
		sum, err := b.send(t.Context(), `{"v":1,"g":"b"}`)
		require.NoError(t, err)
		require.Equal(t, warnings, sum.Warnings, "after %v", gap)
	}
}

func TestRunDryRun(t *testing.T) {
	t.Parallel()
	p, err := New(Config{DryRun: true}, nil)
	require.NoError(t, err)
	var got []Record
	sum, err := p.Run(t.Context(), []Input{text("x", `{"a":1,"b":2}`, `{"b":2,"a":1}`, `[`)}, func(r Record) { got = append(got, r) })
	require.NoError(t, err)
	require.Equal(t, []string{"1 unsent", "2 unsent of line 1", "3 failed"}, outcomes(got))
	require.Equal(t, got[0].ID, got[1].ID)
	require.Empty(t, got[0].Attempts)
	require.Equal(t, 1, sum.Distinct)
	require.Equal(t, 2, sum.Unsent)
}

func TestRunExplain(t *testing.T) {
	t.Parallel()
	hash, err := contenthash.New(contenthash.Options{Exclude: []string{"/at", "/typo"}})
	require.NoError(t, err)
	b := newBench(t, func(c *Config) { c.Hash, c.Explain = hash, true })
	sum, err := b.send(t.Context(), `{"b":1.0,"at":7}`, `{"b":2}`)
	require.NoError(t, err)
	require.Equal(t, `{"b":1}`, b.records[0].Explanation.Canonical)
	require.Equal(t, []string{"/at"}, b.records[0].Explanation.LeftOut)
	require.Equal(t, []string{"/typo"}, sum.Unmatched, "/at matched in one line")
}

func TestRunChecksum(t *testing.T) {
	t.Parallel()
	damaged := func(q *queue, in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
		out := q.take(in, func(int) bool { return true })
		out.Successful[0].MD5OfMessageBody = aws.String("eeb88fa7efbdcb6a4a4cb1b6d4a2d0c1")
		out.Successful[1].MD5OfMessageBody = aws.String("99914b932bd37a50b983c5e7c90ae93b") // printf '{}' | md5sum
		return out, nil
	}
	b := newBench(t, nil, damaged)
	_, err := b.send(t.Context(), `{"n":1}`, `{}`)
	require.NoError(t, err)
	require.Equal(t, []string{"1 unknown", "2 accepted"}, outcomes(b.records))
	require.Equal(t, "the queue answered with the MD5 of another body", b.records[0].Reason)
	require.Equal(t, messageID(1), b.records[0].MessageID)
}

func TestRunReadError(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	broken := io.MultiReader(strings.NewReader("{\"n\":1}\n"), iotest.ErrReader(os.ErrPermission))
	sum, err := b.Run(t.Context(), []Input{{Name: "x", Reader: broken}}, nil)
	require.ErrorIs(t, err, os.ErrPermission)
	require.EqualError(t, err, "reading x at line 2: permission denied")
	require.Equal(t, 1, sum.Accepted, "what was in hand is sent")
}

func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := newBench(t, nil, nil, func(q *queue, in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
		cancel() // while the second batch is in flight
		return q.take(in, func(int) bool { return true }), nil
	})
	sum, err := b.send(ctx, numbered(200)...)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, b.queue.calls, 2)
	require.Equal(t, 20, sum.Accepted, "the batch in flight was answered and counts")
	require.True(t, sum.Interrupted)
}

func TestRunInterruptedBetweenAttempts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := newBench(t, nil, func(*queue, *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
		cancel()
		return nil, io.EOF
	})
	_, err := b.send(ctx, `{"n":1}`)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, Unknown, b.records[0].Outcome, "the call may have been carried out")
	require.Equal(t, "interrupted", b.records[0].Reason)
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"fine", Config{Queue: testQueue}, ""},
		{"dry run needs no queue", Config{DryRun: true}, ""},
		{"no queue", Config{}, "no queue is named"},
		{"name", Config{Queue: "orders.fifo"}, "the queue must be given by its URL"},
		{"standard queue", Config{Queue: "http://h/1/orders"}, "the queue http://h/1/orders is no FIFO queue: the name of one ends in .fifo"},
		{"credentials", Config{Queue: "http://u:p@h/1/orders.fifo"}, "a queue URL must not hold credentials"},
		{"both groups", Config{Queue: testQueue, Group: "g", GroupPointer: "/g"}, "a fixed group and a group pointer exclude each other: choose one"},
		{"group with a space", Config{Queue: testQueue, Group: "a b"}, `the group "a b" holds a character other than ASCII letters, digits and punctuation`},
		{"long group", Config{Queue: testQueue, Group: strings.Repeat("g", 129)}, fmt.Sprintf("the group %q has 129 bytes, and a group at most 128", strings.Repeat("g", 129))},
		{"repeat", Config{Queue: testQueue, Repeat: -1}, "every line is sent once or more, not -1 times"},
		{"attempts", Config{Queue: testQueue, Attempts: -1}, "a message needs at least one attempt, not -1"},
		{"backoff", Config{Queue: testQueue, Backoff: -1}, "the backoff cannot be negative: -1ns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.cfg.Validate()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.want)
			_, err = New(c.cfg, &queue{})
			require.EqualError(t, err, c.want)
		})
	}
	err := Config{Queue: testQueue, GroupPointer: "g"}.Validate()
	require.ErrorContains(t, err, "the group pointer cannot be used: ")
	require.ErrorAs(t, err, new(*contenthash.OptionError))
}
