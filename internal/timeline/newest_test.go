package timeline

import (
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// read yields receipts as a store does, and at the end an error if there is one.
func read(receipts []receipt.Receipt, failure error) iter.Seq2[receipt.Receipt, error] {
	return func(yield func(receipt.Receipt, error) bool) {
		for _, r := range receipts {
			if !yield(r, nil) {
				return
			}
		}
		if failure != nil {
			yield(receipt.Receipt{}, failure)
		}
	}
}

func TestNewest(t *testing.T) {
	t.Parallel()
	all := many(1000, 7)
	for _, limit := range []int{1, 10, 333, 999} {
		kept, left, err := Newest(read(all, nil), limit)
		require.NoError(t, err)
		require.Equal(t, all[1000-limit:], kept)
		require.Equal(t, 1000-limit, left)
	}
	kept, left, err := Newest(read(all, nil), 1000)
	require.NoError(t, err)
	require.Equal(t, all, kept)
	require.Zero(t, left)
}

// What counts is a message's last delivery, and all of its receipts stay.
func TestNewestCountsMessages(t *testing.T) {
	t.Parallel()
	kept, left, err := Newest(read(day(), nil), 1)
	require.NoError(t, err)
	require.Equal(t, []int64{9, 10}, []int64{kept[0].ID, kept[1].ID}, "the copy, and what it is a copy of")
	require.Equal(t, 8, left)
	kept, left, err = Newest(read(day(), nil), 2)
	require.NoError(t, err)
	require.Len(t, kept, 5, "and all deliveries of the message that came three times")
	require.Equal(t, 5, left)
}

func TestNewestFails(t *testing.T) {
	t.Parallel()
	failure := errors.New("the disk is gone")
	_, _, err := Newest(read(day(), failure), 10)
	require.ErrorIs(t, err, failure)
}
