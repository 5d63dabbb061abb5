package audit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"fifoproof/internal/cli"
)

// spill is a temporary file that holds records by family and partition. It is not
// safe for concurrent use but for reading, once it is flushed.
type spill struct {
	file *os.File
	dir  string
	name string // "" where the file has none any more
	end  int64
	mu   sync.Mutex
}

// newSpill makes the file in dir; "" is the system's folder for such files. Where the
// system allows it, the file loses its name at once: nothing is left of it, however
// the program ends.
func newSpill(dir string) (*spill, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	file, err := os.CreateTemp(dir, "fifoproof-audit-*")
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("making a temporary file: %w", err), "name a folder that can be written to with --temp")
	}
	s := &spill{file: file, dir: dir, name: file.Name()}
	if os.Remove(s.name) == nil {
		s.name = ""
	}
	return s, nil
}

func (s *spill) close() error {
	err := s.file.Close()
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
	}
	if err != nil {
		return fmt.Errorf("removing the temporary file: %w", err)
	}
	return nil
}

// append writes a block and returns where it is.
func (s *spill) append(block []byte) (at int64, err error) {
	s.mu.Lock()
	at = s.end
	s.end += int64(len(block))
	s.mu.Unlock()
	if _, err := s.file.WriteAt(block, at); err != nil {
		err = fmt.Errorf("writing a temporary file in %s: %w", s.dir, err)
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			err = cli.Hint(err, "name a folder with more room with --temp")
		}
		return 0, err
	}
	return at, nil
}

// family is records of one size, divided by the key that each begins with.
type family struct {
	spill *spill
	size  int // of a record, in bytes
	block int // of what is written at once, in bytes
	parts []part
	mu    sync.Mutex // of addAll
}

type part struct {
	buffer []byte
	blocks []block
	count  int64
}

type block struct {
	at   int64
	size int
}

// buffers bounds the memory of all write buffers of a family.
const buffers = 4 << 20

// newFamily divides records of size bytes into parts, a power of two.
func (s *spill) newFamily(size, parts int) *family {
	block := min(buffers/parts, 64<<10) / size * size
	return &family{spill: s, size: size, block: max(block, size), parts: make([]part, parts)}
}

// add writes one record. Records of a partition keep their order.
func (f *family) add(record []byte) error {
	p := &f.parts[int(binary.LittleEndian.Uint16(record))&(len(f.parts)-1)]
	if p.buffer == nil {
		p.buffer = make([]byte, 0, f.block)
	}
	p.buffer = append(p.buffer, record...)
	p.count++
	if len(p.buffer) < f.block {
		return nil
	}
	return f.write(p)
}

// addAll writes any number of records, and may be called from several goroutines.
func (f *family) addAll(records []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(records) > 0 {
		if err := f.add(records[:f.size]); err != nil {
			return err
		}
		records = records[f.size:]
	}
	return nil
}

func (f *family) write(p *part) error {
	at, err := f.spill.append(p.buffer)
	if err != nil {
		return err
	}
	p.blocks = append(p.blocks, block{at, len(p.buffer)})
	p.buffer = p.buffer[:0]
	return nil
}

// flush writes what is left and gives the buffers back. Then records can be read.
func (f *family) flush() error {
	for i := range f.parts {
		p := &f.parts[i]
		if len(p.buffer) > 0 {
			if err := f.write(p); err != nil {
				return err
			}
		}
		p.buffer = nil
	}
	return nil
}

// total is the number of records in all partitions.
func (f *family) total() (n int64) {
	for i := range f.parts {
		n += f.parts[i].count
	}
	return n
}

// load is a whole partition, in the order in which it was written.
func (f *family) load(p int) ([]byte, error) {
	all := make([]byte, 0, f.parts[p].count*int64(f.size))
	for _, b := range f.parts[p].blocks {
		all = all[:len(all)+b.size]
		if err := f.read(all[len(all)-b.size:], b.at); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// each gives do every record of a partition, in the order in which it was written.
// The record is only valid during the call.
func (f *family) each(p int, do func(record []byte) error) error {
	buffer := make([]byte, f.block)
	for _, b := range f.parts[p].blocks {
		part := buffer[:b.size]
		if err := f.read(part, b.at); err != nil {
			return err
		}
		for ; len(part) > 0; part = part[f.size:] {
			if err := do(part[:f.size]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *family) read(into []byte, at int64) error {
	if _, err := f.spill.file.ReadAt(into, at); err != nil {
		return fmt.Errorf("reading a temporary file in %s: %w", f.spill.dir, err)
	}
	return nil
}
