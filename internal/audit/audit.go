package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"fifoproof/internal/receipt"
	"fifoproof/internal/window"
)

const (
	// EdgeTolerance is how near to the window a gap between two SentTimestamps may be
	// for nothing to follow from it: they are whole milliseconds of a clock that need
	// not be the one that the queue measures its window with.
	EdgeTolerance = time.Second

	// mostWorkers bounds the memory that chunks and partitions take at once, some 40 MB
	// for each worker.
	mostWorkers = 6

	// DefaultLate and DefaultGrace are what Options stand at where nothing is said.
	DefaultLate  = time.Minute
	DefaultGrace = 15 * time.Minute
)

// Options say how to judge.
type Options struct {
	Scope window.Scope  // the queue's DeduplicationScope
	Late  time.Duration // from SentTimestamp to delivery; more than it is late

	// Grace is for a message that nothing of its own group was delivered behind: it
	// counts as lost only if a message that was sent this much later was delivered. It
	// should be no less than the queue's visibility timeout.
	Grace time.Duration

	Tolerant bool   // inconclusive findings leave the exit code alone
	Temp     string // folder for the temporary file; "": the system's

	// Database opens receipts in an SQLite file, or in the database that a URL names.
	Database OpenReceipts

	parts int // partitions; 0: as many as the inputs need

	// Progress, if not nil, is told what part of all work is done, from 0 to 1. It is
	// called from several goroutines, never at once.
	Progress func(step string, done float64)
}

// auditor is one audit.
type auditor struct {
	opts     Options
	workers  int
	parts    int // partitions of a family
	spill    *spill
	keys     *keyer
	queues   *queues
	database *Database // nil where the receipts are lines

	sendLines, receiptLines lineIndex
	sends                   *family // by id
	deliveries              *family // by id
	orders                  *family // by group
	effects                 *family // by the consumer's key
	names                   *family // by MessageId
	missing                 *family // by MessageId
	behind                  *family // missing ones, by group
	strays                  *family // by MessageId
	unfinished, finished    *family // by first MessageId

	horizon     int64        // receipts from before it may have been forgotten; 0: none was
	flawed      map[key]bool // messages of a queue that came under several ids
	series      uint32       // of receipts
	lastReceipt int64
	rows        map[int64]receipt.Receipt // of a database, fetched again
	cuts        int64                     // lines of the send log that were cut off

	mu       sync.Mutex // of what follows
	found    tally
	messages int64
	step     string
	done     float64
	total    float64
	report   Report
}

// Run audits a send log and receipts. An error means that one of the files cannot be
// read or is not what it should be, that the temporary file cannot be written, or
// that ctx ended; it names file and line.
func Run(ctx context.Context, sendLog, receipts string, opts Options) (*Report, error) {
	return run(ctx, sendLog, receipts, opts, newSpill)
}

func run(ctx context.Context, sendLog, receipts string, opts Options, spillIn func(dir string) (*spill, error)) (report *Report, err error) {
	if opts.Late <= 0 {
		opts.Late = DefaultLate
	}
	if opts.Grace <= 0 {
		opts.Grace = DefaultGrace
	}
	sends, sendSize, err := openFile(sendLog)
	if err != nil {
		return nil, err
	}
	defer sends.Close()
	received, err := openReceipts(ctx, receipts, opts.Database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, received.close()) }()

	a := &auditor{
		opts: opts, workers: min(runtime.GOMAXPROCS(0), mostWorkers), keys: newKeyer(), queues: newQueues(), found: tally{},
		flawed: map[key]bool{}, database: received.database, parts: cmp.Or(opts.parts, partitions(sendSize+received.size)),
		total: float64(sendSize+received.size) / partOfReading,
	}
	a.report = Report{
		SendLog: File{Path: sendLog, Format: "send log"}, Receipts: File{Path: received.shown, Format: received.format},
		Scope: opts.Scope.String(), LateSeconds: opts.Late.Seconds(), GraceSeconds: opts.Grace.Seconds(), Notes: []string{},
	}
	if a.spill, err = spillIn(opts.Temp); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.spill.close()) }()
	if err := a.all(ctx, sends, sendSize, received); err != nil {
		return nil, err
	}
	return &a.report, nil
}

func (a *auditor) all(ctx context.Context, sends *os.File, sendSize int64, received *inbound) error {
	a.begin("reading the send log")
	if err := a.readSends(ctx, sends, sendSize); err != nil {
		return err
	}
	a.begin("reading the receipts")
	read := a.readReceipts
	if a.database != nil {
		read = a.readDatabase
	}
	if err := read(ctx, received); err != nil {
		return err
	}
	a.report.Horizon = fromNano(a.horizon)
	for _, step := range []struct {
		name  string
		judge func(context.Context) error
	}{
		{"judging what messages are called", a.judgeNames},
		{"judging copies and losses", a.judgeIDs},
		{"judging what found no counterpart", a.resolve},
		{"judging the order of groups", a.judgeGroups},
		{"judging effects", a.judgeEffects},
		{"judging what was left undone", a.judgeEnds},
	} {
		a.begin(step.name)
		if err := step.judge(ctx); err != nil {
			return err
		}
	}
	if n := a.found[tallyKey{Stray, Fail}].count; n > 0 && n <= a.cuts*longestBatch {
		a.found.excuse(Stray, "no send of it is on record, and a run was killed before it could write down its last batch")
	}
	a.report.Deliveries.Messages = a.messages
	if a.horizon != 0 {
		a.notef("receipts from before %s may have been forgotten (--retention): sends from before it of which none is left cannot be judged",
			a.report.Horizon.Format(time.RFC3339Nano))
	}
	a.report.Notes = append(a.report.Notes, a.queues.notes()...)
	if err := a.show(ctx); err != nil {
		return err
	}
	a.report.Exit = a.report.exit(a.opts.Tolerant)
	return nil
}

// longestBatch is how many sends a killed run can have made without writing them
// down: those of one SendMessageBatch.
const longestBatch = 10

// partitions is how many parts to divide records into, a power of two, for files of
// so many bytes together: a part then holds some 100,000 records of a kind.
func partitions(size int64) int {
	const bytesOfPart = 100_000 * 1200
	n := 1
	for int64(n)*bytesOfPart < size && n < 1024 {
		n *= 2
	}
	return n
}

// TempSpace is how many bytes of temporary space an audit of files of such sizes
// takes, with room to spare.
func TempSpace(sendLog, receipts int64) int64 {
	// The shortest lines that the programs write, and all their records.
	return sendLog/450*sendSize + receipts/450*(deliverySize+orderSize+placeSize+nameSize)
}

// each calls judge for every partition, on all cores, and merges what it found.
func (a *auditor) each(ctx context.Context, judge func(p int, found tally) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next int
	var running sync.WaitGroup
	for range a.workers {
		running.Go(func() {
			found := tally{}
			for {
				a.mu.Lock()
				p := next
				next++
				a.mu.Unlock()
				if p >= a.parts || ctx.Err() != nil {
					break
				}
				if err := judge(p, found); err != nil {
					cancel(err)
				}
				a.judgedPart()
			}
			a.mu.Lock()
			a.found.merge(found)
			a.mu.Unlock()
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

func (a *auditor) notef(format string, args ...any) {
	a.report.Notes = append(a.report.Notes, fmt.Sprintf(format, args...))
}

// partOfReading is about how much of the time goes into reading the files.
const partOfReading = 0.8

func (a *auditor) begin(step string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.step = step
	a.tell()
}

// read notes that so many bytes of the inputs are done.
func (a *auditor) read(bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done += float64(bytes)
	a.tell()
}

// passes are how often all partitions are judged.
const passes = 5

// judgedPart notes that a partition is done.
func (a *auditor) judgedPart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done += a.total * (1 - partOfReading) / float64(passes*a.parts)
	a.tell()
}

func (a *auditor) tell() {
	if a.opts.Progress != nil && a.total > 0 {
		a.opts.Progress(a.step, min(a.done/a.total, 1))
	}
}
