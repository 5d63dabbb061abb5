package consumer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/consumer"
	"fifoproof/internal/contenthash"
	"fifoproof/internal/receipt"
)

func rule(t *testing.T, text string) consumer.KeyRule {
	t.Helper()
	r, err := consumer.ParseKeyRule(text)
	require.NoError(t, err)
	require.Equal(t, text, r.String())
	return r
}

// selecting leaves out /sent_at.
func selecting(t *testing.T) *contenthash.Hasher {
	t.Helper()
	h, err := contenthash.New(contenthash.Options{Exclude: []string{"/sent_at"}})
	require.NoError(t, err)
	return h
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func binary(m types.Message, name string) types.Message {
	m.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("Binary"), BinaryValue: []byte("k")}
	return m
}

func TestKeys(t *testing.T) {
	t.Parallel()
	const body = `{"sent_at": "12:00", "event_id": 7, "order": 1.0}`
	whole, selected := sha(`{"event_id":7,"order":1,"sent_at":"12:00"}`), sha(`{"event_id":7,"order":1}`)
	event := func(rule, value string) receipt.Key {
		return receipt.Key{Rule: rule, Consumer: "orders.fifo", Space: "event", Value: value}
	}
	at := func(value string) receipt.Key {
		return receipt.Key{Rule: "pointer:/event_id", Consumer: "orders.fifo", Space: "pointer:/event_id", Value: value}
	}
	for _, c := range []struct {
		name      string
		rule      string // "": default
		selection bool
		in        types.Message
		want      receipt.Key
		reason    string
	}{
		{"the attribute", "", false, message("m", "g", body, "idempotency-key", "k"), event("attribute:idempotency-key", "k"), ""},
		{"the attribute, whatever the body", "", false, message("m", "g", "no json", "idempotency-key", "k"), event("attribute:idempotency-key", "k"), ""},
		{"no attribute: the content", "", false, message("m", "g", body), event("content", whole), ""},
		{"no attribute, no json", "", false, message("m", "g", "no json"), receipt.Key{}, "byte"},
		{"an empty attribute", "", false, message("m", "g", body, "idempotency-key", ""), receipt.Key{}, "the attribute idempotency-key is empty"},
		{"a binary attribute", "", false, binary(message("m", "g", body), "idempotency-key"), receipt.Key{}, "the attribute idempotency-key is not text"},
		{"a selection beats the attribute", "", true, message("m", "g", body, "idempotency-key", "k"), event("content", selected), ""},
		{"a selection that leaves nothing", "", true, message("m", "g", `{"sent_at":1}`, "idempotency-key", "k"), receipt.Key{}, "nothing"},

		{"content", "content", false, message("m", "g", body, "idempotency-key", "k"), event("content", whole), ""},
		{"content, selected", "content", true, message("m", "g", body), event("content", selected), ""},

		{"a number at the pointer", "pointer:/event_id", false, message("m", "g", body, "idempotency-key", "k"), at("7"), ""},
		{"the same number, spelled otherwise", "pointer:/event_id", false, message("m", "g", `{"event_id":70e-1}`), at("7"), ""},
		{"a string there", "pointer:/event_id", false, message("m", "g", `{"event_id":"7"}`), at(`"7"`), ""},
		{"a string with escapes", "pointer:/event_id", false, message("m", "g", `{"event_id":"\u0041\/"}`), at(`"A/"`), ""},
		{"false there", "pointer:/event_id", false, message("m", "g", `{"event_id":false}`), at("false"), ""},
		{"an object there", "pointer:/event_id", false, message("m", "g", `{"event_id":{"b":2, "a":1}}`), at(`{"a":1,"b":2}`), ""},
		{"nothing there", "pointer:/event_id", false, message("m", "g", `{"id":7}`, "idempotency-key", "k"), receipt.Key{}, "the body has no value at /event_id"},
		{"null there", "pointer:/event_id", false, message("m", "g", `{"event_id":null}`), receipt.Key{}, "the value at /event_id is null"},
		{"an empty string there", "pointer:/event_id", false, message("m", "g", `{"event_id":""}`), receipt.Key{}, "the value at /event_id is empty"},
		{"an empty object there", "pointer:/event_id", false, message("m", "g", `{"event_id":{ }}`), receipt.Key{}, "the value at /event_id is empty"},
		{"an empty array there", "pointer:/event_id", false, message("m", "g", `{"event_id":[]}`), receipt.Key{}, "the value at /event_id is empty"},
		{"no json there", "pointer:/event_id", false, message("m", "g", `{"event_id":7`), receipt.Key{}, "byte"},
		{"one name twice", "pointer:/event_id", false, message("m", "g", `{"event_id":7,"event_id":8}`), receipt.Key{}, "duplicate"},
		{"a book there", "pointer:/event_id", false, message("m", "g", `{"event_id":"`+strings.Repeat("x", 1023)+`"}`), receipt.Key{}, "the key is 1025 bytes long, and 1024 is the limit"},
		{"as long as may be", "pointer:/event_id", false, message("m", "g", `{"event_id":"`+strings.Repeat("x", 1022)+`"}`), at(`"` + strings.Repeat("x", 1022) + `"`), ""},

		{"a named attribute", "attribute:tenant", false, message("m", "g", body, "tenant", "t", "idempotency-key", "k"), receipt.Key{Rule: "attribute:tenant", Consumer: "orders.fifo", Space: "attribute:tenant", Value: "t"}, ""},
		{"the producer's attribute by name", "attribute:idempotency-key", false, message("m", "g", body, "idempotency-key", "k"), event("attribute:idempotency-key", "k"), ""},
		{"a named attribute that is absent", "attribute:tenant", false, message("m", "g", body, "idempotency-key", "k"), receipt.Key{}, "the message has no attribute tenant"},
		{"a named attribute that is empty", "attribute:tenant", false, message("m", "g", body, "tenant", ""), receipt.Key{}, "the attribute tenant is empty"},
		{"a named attribute that is binary", "attribute:tenant", false, binary(message("m", "g", body), "tenant"), receipt.Key{}, "the attribute tenant is not text"},

		{"the message", "message", false, message("m", "g", "no json", "idempotency-key", "k"), receipt.Key{Rule: "message", Consumer: "orders.fifo", Space: "message", Value: "m"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if c.rule != "" {
				b.cfg.Key = rule(t, c.rule)
			}
			if c.selection {
				b.cfg.Hash = selecting(t)
			}
			b.queue.give(c.in)
			_, err := b.consumer(t).Poll(t.Context())
			require.NoError(t, err)
			got := b.receipts(t)
			require.Len(t, got, 1)
			require.Equal(t, c.want, got[0].Key)
			if c.reason == "" {
				require.Equal(t, receipt.Fresh, got[0].Kind)
				return
			}
			require.Equal(t, receipt.Rejected, got[0].Kind)
			require.Contains(t, got[0].Reason, c.reason)
		})
	}
}

// The attribute is the producer's hash of the content. A copy of the message that
// has lost it, or a rule changed between the two, must not pay twice.
func TestAttributeAndContentMeet(t *testing.T) {
	t.Parallel()
	const body = `{"order":1}`
	b := setup(t)
	b.queue.give(message("m1", "g", body, "idempotency-key", sha(body)))
	b.queue.give(message("m2", "g", `{ "order": 1 }`))
	c := b.consumer(t)
	for range 2 {
		_, err := c.Poll(t.Context())
		require.NoError(t, err)
	}
	for _, r := range []string{"content", "attribute:idempotency-key"} {
		b.cfg.Key = rule(t, r)
		b.queue.give(message("m3-"+r, "g", body, "idempotency-key", sha(body)))
		_, err := b.consumer(t).Poll(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, receipt.Counts{Fresh: 1, Repeated: 3, Effects: 1}, b.counts(t))
}

func TestBodyDigest(t *testing.T) {
	t.Parallel()
	const body = `{"sent_at":1,"order":1}`
	for _, c := range []struct {
		name      string
		rule      string
		selection bool
		in        types.Message
		want      string
	}{
		{"the producer's", "", false, message("m", "g", body, "idempotency-key", "k", "body-digest", "told"), "told"},
		{"the producer's, under a pointer key", "pointer:/order", false, message("m", "g", body, "body-digest", "told"), "told"},
		{"made here", "", false, message("m", "g", body, "idempotency-key", "k"), sha(`{"order":1,"sent_at":1}`)},
		{"of this consumer's own selection", "", true, message("m", "g", body, "body-digest", "told"), sha(`{"order":1}`)},
		{"none to be had", "message", false, message("m", "g", "no json"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if c.rule != "" {
				b.cfg.Key = rule(t, c.rule)
			}
			if c.selection {
				b.cfg.Hash = selecting(t)
			}
			b.queue.give(c.in)
			_, err := b.consumer(t).Poll(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.want, b.receipts(t)[0].BodyDigest)
		})
	}
}

func TestParseKeyRule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":              `there is no key rule ""`,
		"body":          `there is no key rule "body"`,
		"default":       `there is no key rule "default"`,
		"content:x":     `the key rule "content" takes no name`,
		"message:":      `the key rule "message" takes no name`,
		"attribute":     "names no attribute",
		"attribute:":    "names no attribute",
		"pointer":       "the key pointer is empty",
		"pointer:":      "the key pointer is empty",
		"pointer:id":    `the key pointer "id" does not begin with /`,
		"pointer:/a~2b": "has a ~ that is not ~0 or ~1",
		"pointer:/a~":   "has a ~ that is not ~0 or ~1",
		"/event_id":     `there is no key rule "/event_id"`,
	} {
		_, err := consumer.ParseKeyRule(text)
		require.ErrorContains(t, err, want, text)
	}
	for _, text := range []string{"content", "message", "attribute:a:b", "pointer:/a~0b~1c/0", "pointer:/"} {
		rule(t, text)
	}
	require.Equal(t, "default", consumer.KeyRule{}.String())
}
