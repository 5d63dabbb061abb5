package budget

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// endpoint counts what reaches it, and answers with a status.
type endpoint struct {
	status int
	came   []string
}

func (e *endpoint) Do(request *http.Request) (*http.Response, error) {
	e.came = append(e.came, request.Header.Get("X-Amz-Target"))
	return &http.Response{StatusCode: e.status, Body: http.NoBody}, nil
}

func make1(t require.TestingT, c Client, action string) error {
	request, err := http.NewRequest(http.MethodPost, "http://sqs", http.NoBody)
	require.NoError(t, err)
	request.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	_, err = c.Do(request)
	return err
}

func TestCap(t *testing.T) {
	t.Parallel()
	var told []error
	behind := &endpoint{status: http.StatusOK}
	b := New(4, func(err error) { told = append(told, err) })
	c := b.Client(behind)
	require.NoError(t, make1(t, c, creates))
	require.NoError(t, make1(t, c, "SendMessage"))
	require.NoError(t, make1(t, c, "SendMessage"))
	// The fourth call belongs to the queue's delete.
	err := make1(t, c, "SendMessage")
	spent, is := errors.AsType[*SpentError](err)
	require.True(t, is)
	require.Equal(t, 4, spent.Cap)
	require.EqualError(t, err, "the cap of 4 calls is reached")
	require.Error(t, make1(t, c, "ReceiveMessage"))
	require.NoError(t, make1(t, c, deletes))
	require.Error(t, make1(t, c, deletes))
	require.Len(t, behind.came, 4)
	require.Equal(t, 4, b.Made())
	require.Len(t, told, 1, "it is told once")
}

func TestRefusedCreateOwesNoDelete(t *testing.T) {
	t.Parallel()
	behind := &endpoint{status: http.StatusBadRequest}
	c := New(3, nil).Client(behind)
	require.NoError(t, make1(t, c, creates))
	require.NoError(t, make1(t, c, "SendMessage"))
	require.NoError(t, make1(t, c, "SendMessage"))
	require.Error(t, make1(t, c, "SendMessage"))
}

// Whatever is asked: no more requests leave than the cap allows, and each queue that was
// made can be deleted.
func TestCapHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		behind := &endpoint{status: http.StatusOK}
		c := New(limit, nil).Client(behind)
		queues := 0
		for _, action := range rapid.SliceOf(rapid.SampledFrom([]string{creates, deletes, "SendMessage"})).Draw(t, "calls") {
			if action == deletes && queues == 0 {
				continue
			}
			if make1(t, c, action) != nil {
				require.NotEqual(t, deletes, action, "a delete that is owed is always made")
				continue
			}
			switch action {
			case creates:
				queues++
			case deletes:
				queues--
			}
		}
		for range queues {
			require.NoError(t, make1(t, c, deletes))
		}
		require.LessOrEqual(t, len(behind.came), limit)
	})
}
