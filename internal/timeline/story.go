package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"fifoproof/internal/receipt"
)

// message is what is on record of one message.
type message struct {
	key      messageKey
	receipts []receipt.Receipt // in the order of ids; never empty
}

// group is the messages of one message group, in the order in which they first came.
type group struct {
	queue, name string
	messages    []*message
}

// tell sorts receipts, which come in the order of their ids, into groups and messages.
func tell(receipts []receipt.Receipt) (groups []*group) {
	type groupKey struct{ queue, name string }
	byGroup, byKey := map[groupKey]*group{}, map[messageKey]*message{}
	for _, r := range receipts {
		m := byKey[keyOf(r)]
		if m == nil {
			m = &message{key: keyOf(r)}
			byKey[m.key] = m
			key := groupKey{r.Queue, r.Group}
			if byGroup[key] == nil {
				byGroup[key] = &group{queue: r.Queue, name: r.Group}
				groups = append(groups, byGroup[key])
			}
			byGroup[key].messages = append(byGroup[key].messages, m)
		}
		m.receipts = append(m.receipts, r)
	}
	return groups
}

// done says whether the message had its effect, or needs none.
func (m *message) done() bool {
	return slices.ContainsFunc(m.receipts, func(r receipt.Receipt) bool { return r.Kind.Done() })
}

func (m *message) last() receipt.Receipt { return m.receipts[len(m.receipts)-1] }

// attempts is the highest number of an attempt on record.
func (m *message) attempts() int {
	highest := 0
	for _, r := range m.receipts {
		highest = max(highest, r.Attempt.Number)
	}
	return highest
}

// attemptEnd is when the attempt of the i-th receipt ended. Where that is not on record,
// it lasted until the next one began at most, else until the end of what is shown.
func (m *message) attemptEnd(i int, edge time.Time) (at time.Time, known bool) {
	if ended := m.receipts[i].Attempt.Ended; !ended.IsZero() {
		return ended, true
	}
	for _, later := range m.receipts[i+1:] {
		if started := later.Attempt.Started; !started.IsZero() {
			return started, false
		}
	}
	return edge, false
}

// why is what there is to say of a receipt beside its kind.
func why(r receipt.Receipt) string {
	var parts []string
	if r.Reason != "" {
		parts = append(parts, r.Reason)
	}
	if r.First != (receipt.Origin{}) {
		parts = append(parts, "the effect was that of message "+r.First.MessageID+", received "+stamp(r.First.ReceivedAt))
	}
	if r.OriginID != "" {
		parts = append(parts, "a redriven copy of message "+r.OriginID)
	}
	return strings.Join(parts, "; ")
}

// clean is the receipts without the characters that no page can hold: texts come from
// whoever may send to the queue.
func clean(receipts []receipt.Receipt) []receipt.Receipt {
	all := slices.Clone(receipts)
	for i := range all {
		r := &all[i]
		r.Kind = receipt.Kind(printable(string(r.Kind)))
		for _, text := range []*string{&r.Queue, &r.MessageID, &r.OriginID, &r.Group, &r.Reason, &r.First.MessageID, &r.Attempt.Worker} {
			*text = printable(*text)
		}
	}
	return all
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// shorten keeps of a long id what tells it from others.
func shorten(id string, most int) string {
	if runes := []rune(id); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return id
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05.000")
}

func orDash(text string) string { return cmp.Or(text, "–") }
