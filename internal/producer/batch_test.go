package producer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// weight is what SQS counts of a call: bodies, and name, type and value of every
// attribute (API reference, SendMessageBatch).
func weight(in *sqs.SendMessageBatchInput) (total, largest int) {
	for _, e := range in.Entries {
		n := len(*e.MessageBody)
		for name, value := range e.MessageAttributes {
			n += len(name) + len(*value.DataType) + len(*value.StringValue)
		}
		total += n
		largest = max(largest, n)
	}
	return total, largest
}

// Whatever the sizes: ten entries and 1,048,576 bytes at most, no entry lost, order
// kept, and no batch that the next entry would still have fitted into.
func TestBatchesKeepLimitsAndOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const limit = 1_048_576
		small := rapid.SliceOfN(rapid.IntRange(20, 300), 1, 22).Draw(t, "small")
		large := rapid.SliceOfN(rapid.OneOf(
			rapid.IntRange(limit/3-600, limit/3), // three fill a call, or not quite
			rapid.IntRange(limit/2-400, limit/2), // two do
			rapid.Just(limit-166),
		), 0, 4).Draw(t, "large")
		sizes := rapid.Permutation(slices.Concat(small, large)).Draw(t, "sizes")
		var lines []string
		for i, size := range sizes {
			line := fmt.Sprintf(`{"n":%d,"pad":"`, i)
			lines = append(lines, line+strings.Repeat("x", size-len(line)-2)+`"}`)
		}
		q := &queue{}
		p, err := New(Config{Queue: testQueue}, q)
		require.NoError(t, err)
		sum, err := p.Run(context.Background(), []Input{text("x", lines...)}, nil)
		require.NoError(t, err)
		require.Equal(t, len(lines), sum.Accepted)
		require.Equal(t, lines, q.took)
		for i, in := range q.calls {
			total, largest := weight(in)
			require.LessOrEqual(t, len(in.Entries), 10)
			require.LessOrEqual(t, total, limit)
			require.LessOrEqual(t, largest, limit)
			if i+1 < len(q.calls) && len(in.Entries) < 10 {
				next := len(*q.calls[i+1].Entries[0].MessageBody) + 166
				require.Greater(t, total+next, limit, "batch %d was cut too early", i)
			}
		}
	})
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	// idempotency-key and body-digest, type String twice, 64 digits twice.
	require.Equal(t, 1_048_576-(15+6+64)-(11+6+64), maxBody)
	fits := `"` + strings.Repeat("x", maxBody-2) + `"`
	b := newBench(t, nil)
	sum, err := b.send(t.Context(), fits, fits+" ", `{"n":1}`)
	require.NoError(t, err)
	require.Equal(t, []string{"1 accepted", "2 failed", "3 accepted"}, outcomes(b.records))
	require.Equal(t, "the body has 1048411 bytes, and SQS takes at most 1048410 with the two attributes that each message carries", b.records[1].Reason)
	require.Equal(t, 2, sum.Accepted)
}
