package producer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sampleTrace is the example of W3C Trace Context, section 3.2.3.
const sampleTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// The rules are those of W3C Trace Context, sections 3.2.2 and 4.3 (versioning).
func TestParseTraceparent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		sampleTrace: sampleTrace,
		strings.Replace(sampleTrace, "-01", "-00", 1):      strings.Replace(sampleTrace, "-01", "-00", 1),
		"cc" + sampleTrace[2:]:                             sampleTrace,
		"cc" + sampleTrace[2:] + "-what-the-future-brings": sampleTrace,
	} {
		got, err := ParseTraceparent(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"":                           "has 55 characters, this has 0",
		sampleTrace[:54]:             "this has 54",
		sampleTrace + "-extra":       "of version 00 ends after 55",
		"cc" + sampleTrace[2:] + "x": "of version cc ends after 55",
		"ff" + sampleTrace[2:]:       "no version ff",
		strings.ToUpper(sampleTrace): "lower case only",
		"00 " + sampleTrace[3:]:      "- between them",
		"0g" + sampleTrace[2:]:       "hexadecimal digits",
		sampleTrace[:53] + "+1":      "hexadecimal digits",
		strings.Replace(sampleTrace, "4bf92f3577b34da6a3ce929d0e0e4736", strings.Repeat("0", 32), 1): "the trace is zero",
		strings.Replace(sampleTrace, "00f067aa0ba902b7", strings.Repeat("0", 16), 1):                 "the span is zero",
	} {
		_, err := ParseTraceparent(text)
		require.ErrorContains(t, err, want, text)
	}
}

// The trace context travels beside the content: IDs stay what they were.
func TestTraceparentIsSent(t *testing.T) {
	t.Parallel()
	plain, traced := newBench(t, nil), newBench(t, func(c *Config) { c.Traceparent = sampleTrace })
	for _, b := range []*bench{plain, traced} {
		_, err := b.send(t.Context(), `{"n":1}`)
		require.NoError(t, err)
	}
	bare, e := plain.queue.calls[0].Entries[0], traced.queue.calls[0].Entries[0]
	require.NotContains(t, bare.MessageAttributes, AttributeTrace)
	require.Equal(t, sampleTrace, *e.MessageAttributes[AttributeTrace].StringValue)
	require.Equal(t, "String", *e.MessageAttributes[AttributeTrace].DataType)
	require.Len(t, e.MessageAttributes, 3, "SQS takes ten")
	require.Equal(t, *bare.MessageDeduplicationId, *e.MessageDeduplicationId)
	require.Equal(t, *bare.MessageAttributes[AttributeDigest].StringValue, *e.MessageAttributes[AttributeDigest].StringValue)
	require.Equal(t, plain.records[0].Entry(), traced.records[0].Entry(), "the send log says nothing of it")
}

// A body that SQS takes without a trace context is sent, with one or without.
func TestTraceparentGivesWayToTheBody(t *testing.T) {
	t.Parallel()
	const room = len("traceparent") + len("String") + 55
	b := newBench(t, func(c *Config) { c.Traceparent = sampleTrace })
	fits := `"` + strings.Repeat("x", maxBody-room-2) + `"`
	_, err := b.send(t.Context(), fits, fits+" ")
	require.NoError(t, err)
	require.Equal(t, []string{"1 accepted", "2 duplicate of line 1"}, outcomes(b.records))
	require.Contains(t, b.queue.calls[0].Entries[0].MessageAttributes, AttributeTrace)
	require.NotContains(t, b.queue.calls[1].Entries[0].MessageAttributes, AttributeTrace)
	for _, in := range b.queue.calls {
		total, _ := weight(in)
		require.LessOrEqual(t, total, 1<<20)
	}
}

func TestTraceparentIsChecked(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Queue: testQueue, Traceparent: "trace"}, &queue{})
	require.ErrorContains(t, err, "the trace context cannot be sent: a trace context has 55 characters")
}
