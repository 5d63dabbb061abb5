package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// ErrAbsent is why tests are skipped.
var ErrAbsent = errors.New("no PostgreSQL on this machine, neither on PATH nor under /usr/lib/postgresql")

// Server is a PostgreSQL server.
type Server struct {
	// URL connects to it as its superuser.
	URL string

	bin, folder string // "": it was running already
	owner       *syscall.Credential
	guard       *exec.Cmd
	leash       io.Closer
}

// start makes a server in a new folder, and starts it.
func start(ctx context.Context, durable bool) (*Server, error) {
	s := &Server{bin: binaries()}
	if s.bin == "" {
		return nil, ErrAbsent
	}
	folder, err := os.MkdirTemp("", "pgtest-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for PostgreSQL: %w", err)
	}
	s.folder = folder
	if err := errors.Join(s.own(), s.watch()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	if err := s.initialise(ctx, durable); err != nil {
		return nil, errors.Join(err, s.end())
	}
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

// binaries is the folder of postgres and initdb, links followed, since postgres
// finds its other files from where it lies; "" where there is none.
func binaries() string {
	candidates, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is well-formed
	if found, err := exec.LookPath("postgres"); err == nil {
		candidates = append([]string{found}, candidates...)
	}
	for _, candidate := range candidates {
		program, err := filepath.EvalSymlinks(candidate)
		if err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(program), "initdb")); err == nil {
			return filepath.Dir(program)
		}
	}
	return ""
}

// own hands the folder to the user postgres where we are root, as whom PostgreSQL
// refuses to run.
func (s *Server) own() error {
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return fmt.Errorf("the user postgres: %w", err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return fmt.Errorf("the user postgres: %w", err)
	}
	s.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.folder, int(uid), int(gid))
}

// watch starts a guard that ends the server and its folder when it is let go, which
// the end of this process does, however it comes.
func (s *Server) watch() error {
	held, leash, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	s.leash = leash
	s.guard = s.command(context.Background(), "/bin/sh", "-c",
		`cat >/dev/null; "$1/pg_ctl" -D "$2/data" -m immediate -w stop >/dev/null 2>&1; rm -rf "$2"`, "guard", s.bin, s.folder)
	s.guard.Stdin = held
	err = s.guard.Start()
	if err := errors.Join(err, held.Close()); err != nil {
		return errors.Join(fmt.Errorf("starting the guard: %w", err), leash.Close())
	}
	return nil
}

// end stops the server and removes its folder.
func (s *Server) end() error {
	return errors.Join(s.leash.Close(), s.guard.Wait())
}

func (s *Server) initialise(ctx context.Context, durable bool) error {
	err := s.run(ctx, "initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
	if err != nil {
		return err
	}
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	settings := fmt.Sprintf("\nlisten_addresses = '127.0.0.1'\nport = %d\nunix_socket_directories = ''\nmax_connections = 200\n", port)
	if !durable {
		settings += "fsync = off\nfull_page_writes = off\n"
	}
	file, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("configuring PostgreSQL: %w", err)
	}
	_, err = file.WriteString(settings)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("configuring PostgreSQL: %w", err)
	}
	s.URL = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	return nil
}

// Start starts a server that was stopped, on its port and with its data, and returns
// when it answers.
func (s *Server) Start(ctx context.Context) error {
	if s.folder == "" {
		return errors.New("this PostgreSQL is not ours to start")
	}
	return s.run(ctx, "pg_ctl", "-D", s.data(), "-w", "-t", "60", "-l", filepath.Join(s.folder, "log"), "start")
}

// Stop stops the server. The mode "fast" ends all transactions and writes everything
// down; "immediate" is a crash, from which it recovers at its next start.
func (s *Server) Stop(ctx context.Context, mode string) error {
	if s.folder == "" {
		return errors.New("this PostgreSQL is not ours to stop")
	}
	return s.run(ctx, "pg_ctl", "-D", s.data(), "-w", "-t", "60", "-m", mode, "stop")
}

func (s *Server) run(ctx context.Context, program string, args ...string) error {
	out, err := s.command(ctx, filepath.Join(s.bin, program), args...).CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(s.folder, "log")) // there may be none yet
		return fmt.Errorf("%s: %w\n%s%s", program, err, out, log)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

// command runs in a group of its own: Ctrl-C is meant for the tests.
func (s *Server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, program, args...) //nolint:gosec // the PostgreSQL that was found, and the guard
	command.Dir = s.folder
	command.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Setpgid: true}
	return command
}

// freePort is free at this moment, and most likely at the next.
func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer listener.Close() //nolint:errcheck // nothing was written to it
	return listener.Addr().(*net.TCPAddr).Port, nil
}
