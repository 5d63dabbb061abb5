package audit

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// RunOn is Run with a temporary file of the caller's, which is never removed.
func RunOn(t *testing.T, temp, sendLog, receipts string) (*Report, error) {
	t.Helper()
	file, err := os.OpenFile(temp, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return run(context.Background(), sendLog, receipts, Options{}, func(string) (*spill, error) { return &spill{file: file, dir: temp}, nil })
}

// InParts divides records into so many partitions, a power of two, however small the
// inputs are.
func (o Options) InParts(parts int) Options {
	o.parts = parts
	return o
}
