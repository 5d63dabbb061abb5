package consumer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
)

func deletions(b *bench) []string {
	var out []string
	for _, line := range b.diary.read("delete ") {
		out = append(out, strings.TrimPrefix(line, "delete "))
	}
	return out
}

// Ten deletes of which one fails without the sender's fault: only that one is
// tried again.
func TestOnlyTheFailedDeleteIsRetried(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var messages []types.Message
	for n := range 10 {
		messages = append(messages, order(fmt.Sprintf("m%d", n), "g", n))
	}
	b.queue.give(messages...)
	b.queue.onDelete = func(try int, _ []string) (map[string]types.BatchResultErrorEntry, error) {
		if try == 1 {
			return map[string]types.BatchResultErrorEntry{"hm6": {Code: aws.String("InternalError")}}, nil
		}
		return nil, nil
	}
	_, err := b.consumer(t).Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"hm0 hm1 hm2 hm3 hm4 hm5 hm6 hm7 hm8 hm9", "hm6"}, deletions(b))
	require.Equal(t, start.Add(500*time.Millisecond), b.clock.Now())
	require.Empty(t, b.log.String())
}

// A FIFO queue refuses a handle whose visibility timeout has run out. The message
// comes again, and the receipt tells why nothing happens then.
func TestExpiredHandle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1), order("m2", "g", 2))
	b.queue.give(order("m1", "g", 1))
	b.queue.onDelete = func(try int, _ []string) (map[string]types.BatchResultErrorEntry, error) {
		if try == 1 {
			return map[string]types.BatchResultErrorEntry{"hm1": {
				SenderFault: true, Code: aws.String("InvalidParameterValue"), Message: aws.String("The receipt handle has expired"),
			}}, nil
		}
		return nil, nil
	}
	c := b.consumer(t)
	for range 2 {
		_, err := c.Poll(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, []string{"hm1 hm2", "hm1"}, deletions(b))
	require.Equal(t, consumer.Summary{Deliveries: 3, Effects: 2, Redelivered: 1}, c.Summary())
	require.Contains(t, b.log.String(), `reason="The receipt handle has expired"`)
}

func TestDeleteThatKeepsFailing(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(int, []string) (map[string]types.BatchResultErrorEntry, error){
		"the call": func(int, []string) (map[string]types.BatchResultErrorEntry, error) {
			return nil, errors.New("broken pipe")
		},
		"the entry": func(int, []string) (map[string]types.BatchResultErrorEntry, error) {
			return map[string]types.BatchResultErrorEntry{"hm1": {}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.queue.give(order("m1", "g", 1))
			b.queue.onDelete = answer
			_, err := b.consumer(t).Poll(t.Context())
			require.NoError(t, err, "what is done is done; the message comes again and is known")
			require.Equal(t, []string{"hm1", "hm1", "hm1"}, deletions(b))
			require.Contains(t, b.log.String(), "comes again and is then recorded as redelivered")
		})
	}
}

func TestForbiddenDelete(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.queue.give(order("m1", "g", 1))
		b.queue.onDelete = func(int, []string) (map[string]types.BatchResultErrorEntry, error) {
			return nil, &smithy.GenericAPIError{Code: "AccessDenied"}
		}
		_, err := b.consumer(t).Run(t.Context())
		require.ErrorContains(t, err, "deleting from the queue orders.fifo")
		require.Equal(t, []string{"hm1"}, deletions(b))
	})
}

// One message twice in a reply is two deliveries; a batch that names a handle
// twice would be refused as a whole.
func TestTwiceInOneReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1), order("m1", "g", 1))
	c := b.consumer(t)
	_, err := c.Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"hm1"}, deletions(b))
	require.Equal(t, consumer.Summary{Deliveries: 2, Effects: 1, Redelivered: 1}, c.Summary())
}

// An endpoint that reports a failure of something else is not believed, and does
// not make the program fall over.
func TestStrangeDeleteAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queue.give(order("m1", "g", 1))
	b.queue.onDelete = func(int, []string) (map[string]types.BatchResultErrorEntry, error) { return nil, nil }
	strange := &strangeQueue{fakeQueue: b.queue}
	c, err := consumer.New(b.cfg, strange, b.store)
	require.NoError(t, err)
	_, err = c.Poll(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"hm1"}, deletions(b))
}
