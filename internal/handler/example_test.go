package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// orders is the example of docs/handlers.md, to the letter.
type orders struct{}

func (orders) Name() string { return "orders" }

func (orders) Apply(ctx context.Context, tx receipt.Tx, e handler.Event) error {
	if !json.Valid([]byte(e.Body)) {
		return &handler.RejectError{Err: errors.New("the order is no JSON")}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO orders (message_id, body) VALUES ($1, $2)`, e.MessageID, e.Body)
	return err
}

var _ handler.Transactional = orders{}

// What the document shows is what compiles here, and what the example prints.
func TestDocument(t *testing.T) {
	t.Parallel()
	read := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	document := read("../../docs/handlers.md")
	_, code, _ := strings.Cut(read("example_test.go"), "type orders struct{}")
	code, _, _ = strings.Cut(code, "\nvar _")
	require.Contains(t, document, "type orders struct{}"+strings.TrimRight(code, "\n"))

	printed := read("../../examples/ledger/testdata/printed.txt")
	for line := range strings.Lines(printed) {
		if strings.HasPrefix(line, "form ") || strings.HasSuffix(line, "37.02\n") || strings.HasSuffix(line, "12.34\n") {
			require.Contains(t, document, "    "+line)
		}
	}
}
