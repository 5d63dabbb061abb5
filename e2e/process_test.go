package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"
)

// served is 'fifoproof serve' on the machine's clock, in a process of its own.
type served struct {
	url    string
	client *sqs.Client
}

// serveQueues starts an endpoint with queues and stops it when the test ends.
func serveQueues(t *testing.T, queues ...string) *served {
	t.Helper()
	args := []string{"serve", "--addr", "127.0.0.1:0"}
	for _, queue := range queues {
		args = append(args, "--queue", queue)
	}
	server := exec.Command(filepath.Join(programs, "fifoproof"), args...)
	var talk bytes.Buffer
	server.Stderr = &talk
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil {
			t.Logf("serve ended with %v: %s", err, talk.String())
		}
	})
	s := &served{}
	for scanner := bufio.NewScanner(out); s.url == "" && scanner.Scan(); {
		if value, ok := strings.CutPrefix(scanner.Text(), "export AWS_ENDPOINT_URL="); ok {
			s.url = strings.Trim(value, `"'`)
		}
	}
	require.NotEmpty(t, s.url, "serve exported no endpoint")
	go func() { _, _ = io.Copy(io.Discard, out) }()
	s.client = sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &s.url,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	return s
}

// queueURL is a queue's URL.
func (s *served) queueURL(t *testing.T, name string) *string {
	t.Helper()
	answer, err := s.client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
	require.NoError(t, err)
	return answer.QueueUrl
}

// disturb orders a disturbance of the endpoint, as JSON.
func (s *served) disturb(t *testing.T, order string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/_fifoproof/disturb", strings.NewReader(order))
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

// process is a program that may be killed at any time.
type process struct {
	cmd   *exec.Cmd
	talk  talk
	ended chan error
}

// talk is what a process wrote to standard error. Read it after the process has ended.
type talk struct {
	text  bytes.Buffer
	begun chan struct{} // closed when it has said something, and so listens to signals
	once  sync.Once
}

func (w *talk) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.begun) })
	return w.text.Write(p)
}

// start starts one of the programs against an endpoint.
func (s *served) start(t *testing.T, program string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(filepath.Join(programs, program), args...), ended: make(chan error, 1)}
	p.talk.begun = make(chan struct{})
	p.cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+s.url, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test")
	p.cmd.Stderr = &p.talk
	require.NoError(t, p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // where the test has ended before
	return p
}

// kill ends a process as a power cut does, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// farewell is how long a process that was asked to end may take.
const farewell = 30 * time.Second

// stop asks a process to end, and is how it ended.
func (p *process) stop() error {
	select {
	case <-p.talk.begun:
	case err := <-p.ended:
		return err
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.ended:
		return err
	case <-time.After(farewell):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // for its goroutines, in its talk
		return fmt.Errorf("it did not end within %v: %w", farewell, <-p.ended)
	}
}

// fleet is a number of equal processes, of which any may be killed and is replaced.
type fleet struct {
	mu      sync.Mutex
	members []*process
	start   func() *process
	kills   int
}

func newFleet(n int, start func() *process) *fleet {
	f := &fleet{start: start}
	for range n {
		f.members = append(f.members, start())
	}
	return f
}

// kill kills the n-th member and starts another in its place.
func (f *fleet) kill(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members[n].kill()
	f.members[n] = f.start()
	f.kills++
}

// killed is how many were killed.
func (f *fleet) killed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kills
}

// early is the first member that ended by itself, or nil.
func (f *fleet) early(ctx context.Context) (*process, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.members {
		select {
		case err := <-p.ended:
			p.ended <- err
			return p, err
		case <-ctx.Done():
			return nil, ctx.Err()
		default:
		}
	}
	return nil, nil
}
