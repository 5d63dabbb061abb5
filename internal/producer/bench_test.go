package producer

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"
)

// willing takes everything at once, each message under a new MessageId.
type willing struct{ n int }

func (w *willing) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	out := &sqs.SendMessageBatchOutput{Successful: make([]types.SendMessageBatchResultEntry, len(in.Entries))}
	for i, e := range in.Entries {
		w.n++
		out.Successful[i] = types.SendMessageBatchResultEntry{Id: e.Id, MessageId: aws.String(messageID(w.n)), SequenceNumber: aws.String("1")}
	}
	return out, nil
}

// BenchmarkRun is everything but the network, on orders of about 2 KiB.
func BenchmarkRun(b *testing.B) {
	for _, logged := range []bool{false, true} {
		b.Run(fmt.Sprintf("log=%t", logged), func(b *testing.B) {
			cfg := Config{Queue: testQueue}
			if logged {
				log, err := OpenLog(b.TempDir() + "/sends.jsonl")
				require.NoError(b, err)
				defer log.Close()
				cfg.Log = log
			}
			p, err := New(cfg, &willing{})
			require.NoError(b, err)
			var in bytes.Buffer
			for i := range b.N {
				fmt.Fprintf(&in, `{"order_id":%d,"total":"%d.50","customer":"Zoë Müller","note":"%s"}`+"\n", 730123456789000000+i, i, strings.Repeat("größer ", 250))
			}
			b.SetBytes(int64(in.Len() / b.N))
			b.ReportAllocs()
			b.ResetTimer()
			sum, err := p.Run(b.Context(), []Input{{Name: "x", Reader: &in}}, nil)
			b.StopTimer()
			require.NoError(b, err)
			require.Equal(b, b.N, sum.Accepted)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// BenchmarkKnown is what remembering a message costs in memory.
func BenchmarkKnown(b *testing.B) {
	const messages = 1_000_000
	for range b.N {
		before := heap()
		k := newKnown()
		for i := range messages {
			k.remember(messageID(i), k.place("run", "x", i+1))
		}
		b.ReportMetric(float64(heap()-before)/messages, "B/message")
		runtime.KeepAlive(k)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
