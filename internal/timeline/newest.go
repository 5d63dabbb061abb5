package timeline

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"fifoproof/internal/receipt"
)

// Limit is how many messages a page is made of, unless told otherwise: what a browser
// still shows at once.
const Limit = 2000

// messageKey tells messages apart; a redriven copy is the message that it is a copy of.
type messageKey struct{ queue, identity string }

func keyOf(r receipt.Receipt) messageKey { return messageKey{r.Queue, r.Identity()} }

// Newest is all receipts of the limit messages that were delivered last, in the order
// of their ids, and how many receipts it left out. It ranges over receipts twice, first
// to see which messages those are, and never holds more than it needs for them, so that
// a store of any size can be looked at.
func Newest(receipts iter.Seq2[receipt.Receipt, error], limit int) (kept []receipt.Receipt, left int, err error) {
	last := map[messageKey]int64{} // by message, the id of its last receipt
	for r, err := range receipts {
		if err != nil {
			return nil, 0, err
		}
		last[keyOf(r)] = r.ID
		if len(last) >= 2*limit {
			keepNewest(last, limit)
		}
	}
	keepNewest(last, limit)
	for r, err := range receipts {
		if err != nil {
			return nil, 0, err
		}
		if _, wanted := last[keyOf(r)]; wanted {
			kept = append(kept, r)
		} else {
			left++
		}
	}
	return kept, left, nil
}

// keepNewest forgets all but limit messages.
func keepNewest(last map[messageKey]int64, limit int) {
	if len(last) <= limit {
		return
	}
	keys := slices.SortedFunc(maps.Keys(last), func(a, b messageKey) int { return cmp.Compare(last[b], last[a]) })
	for _, key := range keys[limit:] {
		delete(last, key)
	}
}
