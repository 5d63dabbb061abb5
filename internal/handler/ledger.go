package handler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"fifoproof/internal/contenthash"
	"fifoproof/internal/receipt"
)

// Form is how a [Ledger] books an event.
type Form string

const (
	// Inbox adds to the balance, and leaves it to the inbox row in the same
	// transaction that it happens once. The default.
	Inbox Form = "inbox"
	// Version adds only where the event's sequence number is higher than the last one
	// that its group booked on the account: a condition of the statement that notes it.
	Version Form = "version"
	// Upsert notes the event under its natural key, and adds only where that was not
	// there yet.
	Upsert Form = "upsert"
	// Naive reads the balance, adds, and writes it back. It is here to be seen failing:
	// without the inbox every delivery counts.
	Naive Form = "naive"
)

// Forms are all forms, the default first.
func Forms() []Form { return []Form{Inbox, Version, Upsert, Naive} }

// Booking says where in an event's body a ledger finds what it books, by JSON
// Pointers (RFC 6901).
type Booking struct {
	Account string // a text or a whole number. "": /account
	Amount  string // a decimal number, or one in a text. "": /amount
	// Natural is the key of [Upsert]. "": the event's idempotency key.
	Natural string
}

// Ledger keeps balances in the consumer's own database. It makes its tables when it
// books for the first time.
type Ledger struct {
	form    Form
	booking Booking
	made    atomic.Bool // the tables were there when a transaction began
}

// NewLedger returns a Ledger of a form.
func NewLedger(form Form, b Booking) (*Ledger, error) {
	l := &Ledger{form: form, booking: Booking{
		Account: cmp.Or(b.Account, "/account"), Amount: cmp.Or(b.Amount, "/amount"), Natural: b.Natural,
	}}
	if l.apply() == nil {
		return nil, fmt.Errorf("there is no form %q of the handler ledger", string(form))
	}
	for _, pointer := range []string{l.booking.Account, l.booking.Amount, l.booking.Natural} {
		if _, _, err := contenthash.Lookup([]byte("{}"), pointer); err != nil {
			return nil, fmt.Errorf("the handler ledger: %w", err)
		}
	}
	return l, nil
}

// Name is "ledger:" and its form.
func (l *Ledger) Name() string { return nameLedger + ":" + string(l.form) }

// Describe says what can be relied on.
func (l *Ledger) Describe() string {
	if l.form == Naive {
		return "naive: only the inbox keeps a redelivery from counting again, and accounts that two groups book on at once lose amounts"
	}
	return "exactly once: a balance in the table ledger_balances, committed together with the event's key"
}

// entry is what an event books.
type entry struct {
	account string
	amount  Amount
	natural string // [Upsert]
}

// Apply books e. Everything that is wrong with the event is a [RejectError].
func (l *Ledger) Apply(ctx context.Context, tx receipt.Tx, e Event) error {
	booked, err := l.read(e)
	if err != nil {
		return &RejectError{err}
	}
	if err := l.prepare(ctx, tx); err != nil {
		return err
	}
	if err := l.apply()(ctx, tx, e, booked); err != nil {
		l.made.Store(false) // it may be that they are missing
		return fmt.Errorf("booking message %s: %w", e.MessageID, err)
	}
	return nil
}

// read takes what is booked out of the body.
func (l *Ledger) read(e Event) (entry, error) {
	account, err := textAt(e.Body, l.booking.Account)
	if err != nil {
		return entry{}, err
	}
	raw, err := valueAt(e.Body, l.booking.Amount)
	if err != nil {
		return entry{}, err
	}
	amount, err := ParseAmount(unquote(raw))
	if err != nil {
		return entry{}, fmt.Errorf("the amount at %s %w", l.booking.Amount, err)
	}
	natural := e.IdempotencyKey
	if l.booking.Natural != "" {
		if natural, err = textAt(e.Body, l.booking.Natural); err != nil {
			return entry{}, err
		}
	}
	return entry{account: account, amount: amount, natural: natural}, nil
}

// maxText is how long an account or a natural key may be, in bytes: databases have
// limits for what an index takes.
const maxText = 256

var whole = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// textAt is the text, or the whole number, at a pointer. A number such as 7.0, which
// is another text than 7 and the same number, is neither.
func textAt(body, pointer string) (string, error) {
	raw, err := valueAt(body, pointer)
	if err != nil {
		return "", err
	}
	text := unquote(raw)
	switch {
	case raw[0] != '"' && !whole.MatchString(raw):
		return "", fmt.Errorf("the value at %s is neither a text nor a whole number", pointer)
	case text == "":
		return "", fmt.Errorf("the value at %s is empty", pointer)
	case len(text) > maxText:
		return "", fmt.Errorf("the value at %s is %d bytes long, and %d is the limit", pointer, len(text), maxText)
	case strings.ContainsRune(text, 0):
		return "", fmt.Errorf("the value at %s has a NUL character", pointer)
	}
	return text, nil
}

// valueAt is the JSON text at a pointer, of something that is not null.
func valueAt(body, pointer string) (string, error) {
	raw, found, err := contenthash.Lookup([]byte(body), pointer)
	switch bad, ok := errors.AsType[*contenthash.Error](err); {
	case ok:
		return "", fmt.Errorf("the body cannot be read: %w", bad.Kind) // the error itself quotes from it
	case err != nil:
		return "", err
	case !found:
		return "", fmt.Errorf("the body has no value at %s", pointer)
	case string(raw) == "null":
		return "", fmt.Errorf("the value at %s is null", pointer)
	}
	return string(raw), nil
}

// unquote is the text of a JSON string, or else the JSON as it is.
func unquote(raw string) string {
	var text string
	if raw[0] == '"' && json.Unmarshal([]byte(raw), &text) == nil {
		return text
	}
	return raw
}
