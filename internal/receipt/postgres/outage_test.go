package postgres_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
	"fifoproof/internal/receipt/pgtest"
)

// PostgreSQL is stopped, once in good order and once as by a crash, between every
// two steps and in the middle of an effect. What was answered is there afterwards;
// what was not is an error that can be tried again; the store connects by itself.
func TestOutage(t *testing.T) {
	t.Parallel()
	server := pgtest.New(t, true)
	s := open(t, server.Schema(t))
	defer s.Close()
	ctx := t.Context()
	restart := func(mode string) {
		t.Helper()
		require.NoError(t, server.Stop(ctx, mode))
		require.NoError(t, server.Start(ctx))
	}
	// patient tries again as a consumer does: the first error ends a dead connection.
	patient := func(do func() error) {
		t.Helper()
		var err error
		for range 5 {
			if err = do(); err == nil {
				return
			}
		}
		require.NoError(t, err)
	}
	for _, mode := range []string{"fast", "immediate"} {
		d := arrival("m-"+mode, "k-"+mode)
		var ids []int64
		patient(func() (err error) { ids, err = s.Record(ctx, []receipt.Delivery{d}); return err })
		restart(mode)
		var decision receipt.Decision
		patient(func() (err error) { decision, err = s.Begin(ctx, ids[0], d, terms); return err })
		require.Equal(t, receipt.Fresh, decision.Kind)
		restart(mode)
		patient(func() error { return s.Renew(ctx, decision.Claim, terms.Now, time.Hour) })

		effects := 0
		effect := func(ctx context.Context, tx receipt.Tx, _ receipt.Claim) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO effects (inbox_id, consumer, queue, message_group, message_id, sequence_number, key_value, received_at_ns)
VALUES ($1, '', '', '', '', '', $2, 0)`, 1000+ids[0], mode)
			if err == nil && effects == 0 {
				restart(mode) // the transaction is gone
			}
			effects++
			return err
		}
		require.Error(t, s.Complete(ctx, decision.Claim, terms.Now, "", effect))
		require.Equal(t, receipt.Pending, begin(t, s, d, terms).Kind, "the claim stands")
		require.NoError(t, s.Complete(ctx, decision.Claim, terms.Now, "", effect))
		require.Equal(t, 2, effects)
		restart(mode)
		patient(func() error { return s.Complete(ctx, decision.Claim, terms.Now, "", effect) })
		require.Equal(t, 2, effects, "it was done already")
		require.Equal(t, receipt.Redelivered, begin(t, s, d, terms).Kind)
	}
	counts, err := s.Counts(ctx)
	require.NoError(t, err)
	require.Equal(t, receipt.Counts{Fresh: 2, Pending: 2, Redelivered: 2, Effects: 2}, counts)

	require.NoError(t, server.Stop(ctx, "fast"))
	_, err = s.Record(ctx, []receipt.Delivery{arrival("m", "k")})
	require.ErrorContains(t, err, "writing 1 receipts to postgres://127.0.0.1:")
}

// A commit whose answer was lost has happened. Asked again, nothing happens twice.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	direct := pgtest.Start(t)
	proxy, through := between(t, direct)
	s, other := open(t, through), open(t, direct)
	defer s.Close()
	defer other.Close()
	row := func(ctx context.Context, tx receipt.Tx, claim receipt.Claim) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO effects (inbox_id, consumer, queue, message_group, message_id, sequence_number, key_value, received_at_ns)
VALUES ($1, '', '', '', '', '', '', 0)`, claim.ID)
		return err
	}
	for name, effect := range map[string]receipt.Effect{"none of its own": nil, "its own": row} {
		claim := begin(t, s, arrival("m", name), terms).Claim
		if effect == nil {
			proxy.lose("INSERT 0 1") // there is one statement, which ends with that
		} else {
			proxy.lose("COMMIT")
		}
		require.Error(t, s.Complete(t.Context(), claim, terms.Now, "done", effect), name)
		require.True(t, proxy.lost(), name)
		require.NoError(t, s.Complete(t.Context(), claim, terms.Now, "again", effect), name)
		decision := begin(t, other, arrival("m", name), terms)
		require.Equal(t, receipt.Redelivered, decision.Kind, name)
		require.Equal(t, "done", decision.Result, "the first one happened")
	}
	claim := begin(t, s, arrival("m", "released"), terms).Claim
	proxy.lose("COMMIT")
	end := receipt.Ending{Kind: receipt.Failed, Reason: "no", At: terms.Now}
	require.Error(t, s.Release(t.Context(), claim, end))
	require.True(t, proxy.lost())
	require.NoError(t, s.Release(t.Context(), claim, end))
	counts, err := other.Counts(t.Context())
	require.NoError(t, err)
	require.Equal(t, receipt.Counts{Fresh: 2, Redelivered: 2, Failed: 1, Effects: 2}, counts)
}

// wire is a network that loses an answer.
type wire struct{ text atomic.Value }

// lose lets the next answer be lost that says of a statement that it is done, and the
// connection with it.
func (w *wire) lose(done string) { w.text.Store(done + "\x00") }

// lost reports whether it was.
func (w *wire) lost() bool { return w.text.Load() == "" }

// between listens before a server, and returns the URL that leads through it.
func between(t *testing.T, direct string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(direct)
	require.NoError(t, err)
	server := u.Host
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	u.Host = listener.Addr().String()
	w := &wire{}
	w.text.Store("")
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			wg.Go(func() {
				_, _ = io.Copy(upstream, client)
				upstream.(*net.TCPConn).CloseWrite()
			})
			wg.Go(func() {
				w.answer(client, upstream)
				client.Close()
				upstream.Close()
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		wg.Wait()
	})
	return w, u.String()
}

// answer hands answers on. PostgreSQL writes one in a piece, and waits for the next
// question.
func (w *wire) answer(client, upstream net.Conn) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := upstream.Read(buffer)
		if err != nil {
			return
		}
		if text := w.text.Load().(string); text != "" && bytes.Contains(buffer[:n], []byte(text)) {
			w.text.Store("")
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
