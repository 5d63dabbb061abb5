package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"fifoproof/internal/cli"
)

// openFile opens an input, which is read twice and so must be a file.
func openFile(path string) (*os.File, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err // it says which file
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = cli.Hint(fmt.Errorf("%s is no regular file", path), "lines are read again to be shown, so write them to a file first")
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// isSQLite looks at the first 16 bytes (SQLite, "Database File Format", 1.3).
func isSQLite(file io.ReaderAt) bool {
	var header [16]byte
	_, err := file.ReadAt(header[:], 0)
	return err == nil && string(header[:]) == "SQLite format 3\x00"
}

// inbound is where the receipts are: a file of lines, or a database.
type inbound struct {
	file     *os.File  // of lines, or of a database; nil for a URL
	database *Database // nil for lines
	size     int64     // in bytes, about where it is a database without a file
	shown    string    // the path, or the URL without its password
	format   string
}

// openReceipts opens receipts by their path, or their database by its URL.
func openReceipts(ctx context.Context, where string, open OpenReceipts) (_ *inbound, err error) {
	in := &inbound{shown: where, format: "receipts"}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.close())
		}
	}()
	byURL := strings.Contains(where, "://")
	if byURL {
		in.shown = withoutPassword(where)
	} else if in.file, in.size, err = openFile(where); err != nil {
		return nil, err
	}
	if !byURL && !isSQLite(in.file) {
		return in, nil
	}
	if open == nil {
		return nil, fmt.Errorf("%s is a database, and nothing was given to open it with", in.shown)
	}
	if in.database, err = open(ctx, where); err != nil {
		return nil, err
	}
	in.format = in.database.Format
	if in.file == nil {
		in.size = in.database.Rows * bytesOfRow
	}
	return in, nil
}

func (in *inbound) close() (err error) {
	if in.database != nil {
		err = in.database.Close()
	}
	if in.file != nil {
		err = errors.Join(err, in.file.Close())
	}
	return err
}

// withoutPassword is a database's URL as it may be shown.
func withoutPassword(where string) string {
	u, err := url.Parse(where)
	if err != nil {
		return "the database"
	}
	if values := u.Query(); values.Has("password") {
		values.Set("password", "xxxxx")
		u.RawQuery = values.Encode()
	}
	return u.Redacted()
}
