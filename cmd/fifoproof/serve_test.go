package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
)

func noEnv(string) (string, bool) { return "", false }

// talk is what a program says on standard error, read while it runs.
type talk struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{} // closed and replaced by every write
}

func (s *talk) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.wrote)
	s.wrote = make(chan struct{})
	return s.text.Write(p)
}

func (s *talk) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await returns as soon as text was said.
func (s *talk) await(text string) {
	for {
		s.mu.Lock()
		said, wrote := s.text.String(), s.wrote
		s.mu.Unlock()
		if strings.Contains(said, text) {
			return
		}
		<-wrote
	}
}

// served is a running 'fifoproof serve'.
type served struct {
	t      *testing.T
	stop   context.CancelFunc
	code   chan int
	out    []string // lines of standard output
	err    *talk
	export map[string]string
}

func startServe(t *testing.T, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	s := &served{t: t, stop: cancel, code: make(chan int, 1), err: &talk{wrote: make(chan struct{})}, export: map[string]string{}}
	go func() {
		defer writer.Close()
		s.code <- run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), cli.Stdio{Out: writer, Err: s.err}, noEnv)
	}()
	// All of it comes in one write.
	first := make([]byte, 1<<16)
	n, err := reader.Read(first)
	require.NoError(t, err, "standard error: %s", s.err)
	lines := bufio.NewScanner(bytes.NewReader(first[:n]))
	for lines.Scan() {
		s.out = append(s.out, lines.Text())
		if name, value, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "="); ok && !strings.HasPrefix(lines.Text(), "#") {
			s.export[name] = value
		}
	}
	t.Cleanup(func() { s.end() })
	return s
}

// end stops the program as Ctrl-C does and returns its exit code.
func (s *served) end() int {
	s.stop()
	code := <-s.code
	s.code <- code
	return code
}

func (s *served) sdk() *sqs.Client {
	return sqs.New(sqs.Options{
		BaseEndpoint: aws.String(s.export["AWS_ENDPOINT_URL"]),
		Region:       s.export["AWS_REGION"],
		Credentials:  credentials.NewStaticCredentialsProvider(s.export["AWS_ACCESS_KEY_ID"], s.export["AWS_SECRET_ACCESS_KEY"], ""),
		HTTPClient:   &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
}

func TestServe(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--queue", "orders.fifo", "--queue", "more.fifo", "--scope", "messageGroup", "--content-based")
	url := s.export["AWS_ENDPOINT_URL"]
	require.Regexp(t, `^http://127\.0\.0\.1:[1-9][0-9]*$`, url, "the real port")
	require.Contains(t, s.out, "# queue: "+url+"/000000000000/orders.fifo")
	require.Contains(t, s.out, "# queue: "+url+"/000000000000/more.fifo")
	for _, line := range s.out {
		require.Regexp(t, `^(export [A-Z_]+=\S+|# .*)$`, line)
	}

	queue := url + "/000000000000/more.fifo"
	attributes, err := s.sdk().GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &queue, AttributeNames: []types.QueueAttributeName{"All"}})
	require.NoError(t, err)
	require.Equal(t, "messageGroup", attributes.Attributes["DeduplicationScope"])
	require.Equal(t, "true", attributes.Attributes["ContentBasedDeduplication"])

	health, err := http.Get(url + "/_fifoproof/health")
	require.NoError(t, err)
	defer health.Body.Close()
	var said map[string]string
	require.NoError(t, json.NewDecoder(health.Body).Decode(&said))
	require.Equal(t, "real", said["clock"])

	require.Equal(t, cli.OK, s.end())
	require.Contains(t, s.err.String(), "real clock")
	require.Contains(t, s.err.String(), "fifoproof: stopped")
}

// The whole output can be given to a shell.
func TestServeOutputIsForEval(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell here")
	}
	s := startServe(t, "--clock", "virtual", "--queue", "orders.fifo")
	cmd := exec.Command(shell, "-euc", `eval "$1"; printf '%s %s %s' "$AWS_ENDPOINT_URL" "$AWS_REGION" "$AWS_ACCESS_KEY_ID$AWS_SECRET_ACCESS_KEY"`,
		"sh", strings.Join(s.out, "\n"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, s.export["AWS_ENDPOINT_URL"]+" us-east-1 testtest", string(out))
}

func TestServeVirtualClock(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--clock", "virtual", "--queue", "orders.fifo")
	url := s.export["AWS_ENDPOINT_URL"]
	require.Contains(t, s.out, `# move the clock: curl -X POST '`+url+`/_fifoproof/clock/advance' -d '{"by":"5m"}'`)
	sdk, queue := s.sdk(), url+"/000000000000/orders.fifo"
	send := func() {
		_, err := sdk.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &queue, MessageBody: aws.String("b"), MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String("x"),
		})
		require.NoError(t, err)
	}
	receive := func() int {
		out, err := sdk.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue, WaitTimeSeconds: 20, MaxNumberOfMessages: 10})
		require.NoError(t, err)
		for _, m := range out.Messages {
			_, err := sdk.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle})
			require.NoError(t, err)
		}
		return len(out.Messages)
	}
	advance := func(by string) time.Time {
		r, err := http.Post(url+"/_fifoproof/clock/advance", "application/json", strings.NewReader(`{"by":"`+by+`"}`))
		require.NoError(t, err)
		defer r.Body.Close()
		var moved struct{ Now time.Time }
		require.NoError(t, json.NewDecoder(r.Body).Decode(&moved))
		return moved.Now
	}

	send()
	require.Equal(t, 1, receive())
	before := advance("4m59.999999999s")
	send()
	require.Equal(t, 0, receive(), "within the window; and the poll does not wait for 20 seconds")
	require.Equal(t, before.Add(1), advance("1ns"))
	send()
	require.Equal(t, 1, receive())
}

// Ctrl-C ends long polls at once.
func TestServeEndsLongPolls(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--queue", "orders.fifo", "--verbose")
	queue := s.export["AWS_ENDPOINT_URL"] + "/000000000000/orders.fifo"
	began := time.Now()
	polled := make(chan error, 1)
	sdk := s.sdk()
	go func() {
		_, err := sdk.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue, WaitTimeSeconds: 20})
		polled <- err
	}()
	s.err.await("msg=waiting queue=orders.fifo")
	require.Equal(t, cli.OK, s.end())
	require.NoError(t, <-polled, "it is answered, and empty")
	require.Less(t, time.Since(began), 10*time.Second)
	require.Contains(t, s.err.String(), "action=ReceiveMessage status=200")
}

func TestServeRefuses(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"--addr", taken.Addr().String()}, cli.Harness, []string{"is in use", "hint: stop it", "--addr 127.0.0.1:0"}},
		{[]string{"--addr", "0.0.0.0:0"}, cli.Usage, []string{"can be reached from other machines", "hint: ", "--public"}},
		{[]string{"--addr", ":0"}, cli.Usage, []string{"--public"}},
		{[]string{"--addr", "192.0.2.1:0"}, cli.Usage, []string{"--public"}},
		{[]string{"--addr", "example.com:0"}, cli.Usage, []string{"--public"}},
		{[]string{"--addr", "192.0.2.1:0", "--public"}, cli.Harness, []string{"listening at 192.0.2.1:0"}},
		{[]string{"--addr", "9324"}, cli.Usage, []string{"hint: an address looks like"}},
		{[]string{"--queue", "orders"}, cli.Usage, []string{"ends in .fifo", "hint: perhaps --queue orders.fifo"}},
		{[]string{"--queue", "a b.fifo"}, cli.Usage, []string{`--queue "a b.fifo" is no name`, "hint: a name is"}},
		{[]string{"--clock", "wall"}, cli.Usage, []string{"--clock"}},
		{[]string{"--scope", "group", "--queue", "a.fifo"}, cli.Usage, []string{"--scope"}},
		{[]string{"--scope", "messageGroup"}, cli.Usage, []string{"hint: add --queue"}},
	} {
		var out, said bytes.Buffer
		code := run(t.Context(), append([]string{"serve"}, c.args...), cli.Stdio{Out: &out, Err: &said}, noEnv)
		require.Equal(t, c.code, code, "%v: %s", c.args, said.String())
		require.Empty(t, out.String())
		for _, part := range c.says {
			require.Contains(t, said.String(), part)
		}
	}
}

// What is printed of an address that listens everywhere, or on IPv6.
func TestServeAddresses(t *testing.T) {
	t.Parallel()
	for listening, want := range map[string]string{
		"127.0.0.1:9324": "127.0.0.1:9324",
		"0.0.0.0:9324":   "127.0.0.1:9324",
		"[::]:9324":      "[::1]:9324",
		"[::1]:9324":     "[::1]:9324",
	} {
		addr, err := net.ResolveTCPAddr("tcp", listening)
		require.NoError(t, err)
		require.Equal(t, want, reachable(addr))
	}
	var out bytes.Buffer
	require.NoError(t, (&serveCmd{Clock: "real"}).announce(&out, "http://[::1]:9324"))
	require.Contains(t, out.String(), "export AWS_ENDPOINT_URL='http://[::1]:9324'\n")
}
