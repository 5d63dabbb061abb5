package producer

import (
	"context"
	"crypto/md5" // the checksum that SQS answers with
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"fifoproof/internal/awserr"
	"fifoproof/internal/clock"
	"fifoproof/internal/window"
)

// deliver sends messages that fit one call, again and again, until each has its
// outcome. It returns an error where the run cannot go on: a [StopError], or that
// of ctx.
func (r *run) deliver(ctx context.Context, open []*message) error {
	limit := r.p.cfg.Attempts
	for attempt := 1; ; attempt++ {
		if err := ctx.Err(); err != nil {
			giveUp(open, "interrupted")
			return err
		}
		var failed *fault
		open, failed = r.call(ctx, open)
		switch {
		case len(open) == 0:
			return nil
		case failed != nil && failed.remedy == stop:
			return r.stop(open, failed, failed.text)
		case failed != nil && failed.remedy == divide:
			return r.singly(ctx, open, failed)
		case attempt < limit:
			r.pause(ctx, attempt)
		case failed != nil:
			return r.stop(open, failed, fmt.Sprintf("%s (%s)", failed.text, attempts(limit)))
		default:
			for _, m := range open {
				m.refuse(fmt.Sprintf("%s (%s)", m.Attempts[len(m.Attempts)-1].Error, attempts(limit)))
			}
			return nil
		}
	}
}

// singly finds the entry that made SQS refuse a whole call, and sends the others.
func (r *run) singly(ctx context.Context, open []*message, failed *fault) error {
	if len(open) == 1 {
		open[0].refuse(failed.text)
		return nil
	}
	for i := range open {
		if err := r.deliver(ctx, open[i:i+1]); err != nil {
			giveUp(open[i+1:], err.Error())
			return err
		}
	}
	return nil
}

func (r *run) stop(open []*message, failed *fault, text string) error {
	first := r.name(open[0].Record)
	giveUp(open, text)
	return &StopError{Queue: r.p.cfg.Queue, First: first, Cause: failed.cause, Text: text, Err: failed.err}
}

// pause waits before the next attempt: exponential back-off with full jitter.
func (r *run) pause(ctx context.Context, attempt int) {
	cfg := r.p.cfg
	limit := cfg.BackoffMax
	if shift := attempt - 1; shift < 32 && cfg.Backoff<<shift>>shift == cfg.Backoff {
		limit = min(limit, cfg.Backoff<<shift)
	}
	// A clock that stands still cannot pause; the end of ctx is seen by the caller.
	_ = clock.Sleep(ctx, cfg.Clock, cfg.Jitter(limit))
}

// call makes one attempt for all of open. It returns the messages that need another
// one, and what failed where the call failed as a whole.
func (r *run) call(ctx context.Context, open []*message) ([]*message, *fault) {
	cfg := r.p.cfg
	in := request(cfg.Queue, open)
	callCtx, end := callContext(ctx, cfg.AttemptTimeout, cfg.Grace)
	started := cfg.Clock.Now()
	out, err := r.p.sender.SendMessageBatch(callCtx, in, oneAttempt)
	ended := cfg.Clock.Now()
	end()

	if err == nil && out == nil {
		err = errors.New("the client gave neither answer nor error")
	}
	if err != nil {
		f := classify(err)
		a := Attempt{Start: started, Error: f.text}
		if f.answered {
			a.End = ended
		}
		for _, m := range open {
			m.Attempts = append(m.Attempts, a)
			m.uncertain = m.uncertain || f.uncertain
		}
		return open, &f
	}
	return r.read(open, out, started, ended), nil
}

// read takes the answer to a call apart, in the order of the entries, and returns the
// messages that need another attempt.
func (r *run) read(open []*message, out *sqs.SendMessageBatchOutput, started, ended time.Time) (left []*message) {
	taken := make([]*types.SendMessageBatchResultEntry, len(open))
	refused := make([]*types.BatchResultErrorEntry, len(open))
	for i := range out.Successful {
		if n, ok := entryNumber(out.Successful[i].Id, len(open)); ok {
			taken[n] = &out.Successful[i]
		}
	}
	for i := range out.Failed {
		if n, ok := entryNumber(out.Failed[i].Id, len(open)); ok {
			refused[n] = &out.Failed[i]
		}
	}
	for i, m := range open {
		a := Attempt{Start: started, End: ended}
		switch {
		case taken[i] != nil:
			m.Attempts = append(m.Attempts, a)
			r.accept(m, taken[i], ended)
			for _, earlier := range left {
				if earlier.Group == m.Group {
					earlier.warn(fmt.Sprintf("order: it comes behind %s of its group, since the queue refused it at first", r.name(m.Record)))
				}
			}
		case refused[i] != nil:
			code := aws.ToString(refused[i].Code)
			a.Error = awserr.Sentence(code, aws.ToString(refused[i].Message))
			m.Attempts = append(m.Attempts, a)
			// Throttling is the sender's fault in SQS's books, yet passes.
			if refused[i].SenderFault && !awserr.Throttled(code) {
				m.refuse(a.Error)
			} else {
				left = append(left, m)
			}
		default:
			a.End, a.Error = time.Time{}, "the answer does not mention the message"
			m.Attempts = append(m.Attempts, a)
			m.uncertain = true
			left = append(left, m)
		}
	}
	return left
}

// accept is about a message that the queue reports as sent.
func (r *run) accept(m *message, entry *types.SendMessageBatchResultEntry, ended time.Time) {
	m.MessageID, m.SequenceNumber = aws.ToString(entry.MessageId), aws.ToString(entry.SequenceNumber)
	at := r.place(m.Record)
	m.settle(Accepted, "")
	if m.MessageID != "" {
		if first, duplicate := r.p.known.remember(m.MessageID, at); duplicate {
			m.settle(Duplicate, "")
			m.Original = r.label(first)
		}
	}
	if sum := md5.Sum([]byte(m.body)); entry.MD5OfMessageBody != nil && *entry.MD5OfMessageBody != hex.EncodeToString(sum[:]) {
		m.settle(Unknown, "the queue answered with the MD5 of another body")
	}
	r.claim(m, ended)
}

// claim warns where the queue keeps only one of two messages that have an ID in common.
func (r *run) claim(m *message, now time.Time) {
	if r.p.cfg.Scope != window.ScopeQueue {
		return
	}
	if first, lost := r.p.known.claim(now, r.p.cfg.Queue, m.ID, m.Group, r.place(m.Record)); lost {
		m.warn(fmt.Sprintf("likely loss: %s has the id of %s, but the group %q and not %q, and a queue with deduplication scope queue keeps only the first",
			r.name(m.Record), r.label(first.place), m.Group, first.group))
	}
}

func (m *message) settle(outcome Outcome, reason string) {
	m.Outcome, m.Reason = outcome, reason
}

func (m *message) warn(text string) {
	if m.Warning != "" {
		text = m.Warning + "; " + text
	}
	m.Warning = text
}

// refuse is about a message that the queue does not take.
func (m *message) refuse(reason string) {
	if m.uncertain {
		m.settle(Unknown, reason+"; an earlier attempt may have been carried out")
	} else {
		m.settle(Failed, reason)
	}
}

// giveUp is about messages that are not to blame for the end of the run.
func giveUp(open []*message, reason string) {
	for _, m := range open {
		if m.uncertain {
			m.settle(Unknown, reason)
		} else {
			m.settle(Unsent, reason)
		}
	}
}

// callContext outlives ctx by grace, so that a call in flight can still be answered,
// and ends after timeout in any case.
func callContext(ctx context.Context, timeout, grace time.Duration) (context.Context, func()) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	release := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-call.Done():
		}
	})
	return call, func() {
		release()
		cancel()
	}
}

// oneAttempt switches off the SDK's retries, whose times would not be seen, and its
// checksum, which turns an accepted batch into an error without MessageIds; accept
// checks every entry itself.
func oneAttempt(o *sqs.Options) {
	o.Retryer = aws.NopRetryer{}
	o.RetryMaxAttempts = 1
	o.DisableMessageChecksumValidation = true
}

func entryNumber(id *string, entries int) (int, bool) {
	n, err := strconv.Atoi(aws.ToString(id))
	return n, err == nil && n >= 0 && n < entries
}

func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}
