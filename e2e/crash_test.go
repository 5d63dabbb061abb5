package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"fifoproof/internal/receipt/pgtest"
)

// storm is how a crash test is run.
type storm struct {
	messages  int           // events; one in ten is sent again under another deduplication ID
	groups    int           // of messages
	consumers int           // processes
	killEvery time.Duration // a random one is killed
	patience  time.Duration // for all effects
}

const fullSize = 20_000 // messages

// size makes a storm as large as FIFOPROOF_CRASH says: "full" is the size of the
// promise, anything else one that a continuous check has time for.
func size(s storm) storm {
	s.messages, s.groups, s.patience = 2_000, 40, 3*time.Minute
	if os.Getenv("FIFOPROOF_CRASH") == "full" {
		s.messages, s.groups, s.patience = fullSize, 200, 15*time.Minute
	}
	return s
}

// TestCrashPostgres: three consumers share a PostgreSQL; every second a random one is
// killed, the database is stopped once in order and once at once, and one reply in
// twenty is lost. Nothing is lost, nothing happens twice, every group is in order.
func TestCrashPostgres(t *testing.T) {
	server := pgtest.New(t, true)
	s := size(storm{consumers: 3, killEvery: time.Second})
	restart := func(mode string) {
		require.NoError(t, server.Stop(t.Context(), mode))
		require.NoError(t, server.Start(t.Context()))
	}
	s.run(t, "pgx", server.Schema(t), func(effects int) {
		switch effects {
		case s.messages / 3:
			restart("fast")
		case 2 * s.messages / 3:
			restart("immediate")
		}
	})
}

// TestCrashSQLite is the same with one process on a file.
func TestCrashSQLite(t *testing.T) {
	s := size(storm{consumers: 1, killEvery: 3 * time.Second})
	if s.messages < fullSize { // or all is over before anybody is killed
		s.messages, s.killEvery = 6_000, 1500*time.Millisecond
	}
	s.run(t, "sqlite", filepath.Join(t.TempDir(), "receipts.db"), func(int) {})
}

// run sends, consumes under fire, and judges. strike is called once for every number
// of effects from 0 on, in order, when at least so many have happened.
func (s storm) run(t *testing.T, driver, db string, strike func(effects int)) {
	t.Helper()
	endpoint := serveQueues(t, "orders.fifo")
	queue := endpoint.queueURL(t, "orders.fifo")
	s.send(t, endpoint.client, queue)
	endpoint.disturb(t, `{"effect":"drop-reply","probability":0.05}`)

	began := time.Now()
	consumers := newFleet(s.consumers, func() *process {
		return endpoint.start(t, "consumer", "--queue", "orders.fifo", "--db", db, "--visibility", "5s", "--concurrency", "32", "--drain", "5s")
	})
	ctx, stop := context.WithTimeout(t.Context(), s.patience)
	defer stop()
	var killers sync.WaitGroup
	killers.Go(func() {
		random := rand.New(rand.NewPCG(1, 2))
		for ticker := time.NewTicker(s.killEvery); ; {
			select {
			case <-ticker.C:
				consumers.kill(random.IntN(s.consumers))
			case <-ctx.Done():
				ticker.Stop()
				return
			}
		}
	})
	s.watch(ctx, t, driver, db, endpoint.client, queue, consumers, strike)
	stop()
	killers.Wait()
	for _, p := range consumers.members {
		require.NoError(t, p.stop(), p.talk.text.String())
	}
	took := time.Since(began)
	require.Positive(t, consumers.kills, "nobody was killed: that proves nothing")
	s.judge(t, driver, db)
	t.Logf("%s: %d messages, %d groups, %d repeats; %d kills; all effects after %v; %s",
		driver, s.messages, s.groups, s.messages/10, consumers.kills, took.Round(time.Second), receiptFigures(t, driver, db))
}

// send sends all messages, each group in order, one in ten again at once under another
// deduplication ID.
func (s storm) send(t *testing.T, client *sqs.Client, queue *string) {
	t.Helper()
	const senders = 8
	var wg sync.WaitGroup
	errs := make([]error, senders)
	for sender := range senders {
		wg.Go(func() {
			var batch []types.SendMessageBatchRequestEntry
			flush := func() {
				if len(batch) == 0 || errs[sender] != nil {
					return
				}
				out, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: queue, Entries: batch})
				if err == nil && len(out.Failed) > 0 {
					err = fmt.Errorf("sending: %s", aws.ToString(out.Failed[0].Message))
				}
				errs[sender], batch = err, nil
			}
			for n := range s.messages {
				group := n % s.groups
				if group%senders != sender {
					continue
				}
				key := "event-" + strconv.Itoa(n)
				for _, dedup := range []string{key, key + "-again"}[:1+again(n)] {
					batch = append(batch, types.SendMessageBatchRequestEntry{
						Id: aws.String(strconv.Itoa(len(batch))), MessageGroupId: aws.String("group-" + strconv.Itoa(group)),
						MessageDeduplicationId: &dedup, MessageBody: aws.String(`{"event":` + strconv.Itoa(n) + `}`),
						MessageAttributes: map[string]types.MessageAttributeValue{
							"idempotency-key": {DataType: aws.String("String"), StringValue: &key},
						},
					})
					if len(batch) == 10 {
						flush()
					}
				}
			}
			flush()
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// again is 1 for one message in ten, spread over all groups.
func again(n int) int {
	if n/7%10 == 3 {
		return 1
	}
	return 0
}

// watch waits until every event had its effect and the queue is empty.
func (s storm) watch(ctx context.Context, t *testing.T, driver, db string, client *sqs.Client, queue *string, consumers *fleet, strike func(int)) {
	t.Helper()
	told, lines := 0, 1
	began := time.Now()
	for ticker := time.NewTicker(200 * time.Millisecond); ; {
		effects := count(ctx, driver, db, `SELECT count(*) FROM effects`)
		for ; told <= effects; told++ {
			strike(told)
		}
		if passed := time.Since(began); passed >= time.Duration(lines)*10*time.Second {
			t.Logf("%d effects of %d after %v, %d kills", effects, s.messages, passed.Round(time.Second), consumers.killed())
			lines++
		}
		if effects >= s.messages && empty(ctx, client, queue) {
			ticker.Stop()
			return
		}
		if p, err := consumers.early(ctx); p != nil {
			require.Fail(t, "a consumer ended by itself", "%v: %s", err, p.talk.text.String())
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			require.Fail(t, "it takes too long", "%d effects of %d after %v", effects, s.messages, s.patience)
		}
	}
}

func empty(ctx context.Context, client *sqs.Client, queue *string) bool {
	answer, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: queue, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	return err == nil && answer.Attributes["ApproximateNumberOfMessages"] == "0" && answer.Attributes["ApproximateNumberOfMessagesNotVisible"] == "0"
}

// count is the number that a query answers, or 0 while the database cannot be asked.
func count(ctx context.Context, driver, db, query string) (n int) {
	handle, err := sql.Open(driver, db)
	if err != nil {
		return 0
	}
	defer handle.Close()
	_ = handle.QueryRowContext(ctx, query).Scan(&n)
	return n
}

// judge holds what is on record against what was sent: every event once, and every
// group in the order of its sequence numbers.
func (s storm) judge(t *testing.T, driver, db string) {
	t.Helper()
	handle, err := sql.Open(driver, db)
	require.NoError(t, err)
	defer handle.Close()
	rows, err := handle.QueryContext(t.Context(), `SELECT key_value, message_group, sequence_number FROM effects ORDER BY id`)
	require.NoError(t, err)
	defer rows.Close()
	seen, last := map[string]bool{}, map[string]string{}
	for rows.Next() {
		var key, group, sequence string
		require.NoError(t, rows.Scan(&key, &group, &sequence))
		require.False(t, seen[key], "%s had two effects", key)
		seen[key] = true
		require.Len(t, sequence, 20, "sequence numbers of one length compare as texts")
		require.Greater(t, sequence, last[group], "out of order in %s", group)
		last[group] = sequence
	}
	require.NoError(t, rows.Err())
	for n := range s.messages {
		require.True(t, seen["event-"+strconv.Itoa(n)], "event %d is lost", n)
	}
	require.Len(t, seen, s.messages)
	repeats := 0
	for n := range s.messages {
		repeats += again(n)
	}
	require.Equal(t, repeats, count(t.Context(), driver, db,
		`SELECT count(DISTINCT message_id) FROM receipts WHERE kind = 'repeated'`), "each repeat is on record as one")
}

func receiptFigures(t *testing.T, driver, db string) string {
	t.Helper()
	return fmt.Sprintf("%d receipts, %d repeated, %d attempts after the first",
		count(t.Context(), driver, db, `SELECT count(*) FROM receipts`),
		count(t.Context(), driver, db, `SELECT count(*) FROM receipts WHERE kind = 'repeated'`),
		count(t.Context(), driver, db, `SELECT count(*) FROM receipts WHERE attempt > 1`))
}
