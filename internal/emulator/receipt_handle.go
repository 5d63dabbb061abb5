package emulator

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"fifoproof/internal/fifo"
)

// A handle is the prefix that today's handles of AWS start with, then in base64
// the number of the queue, the two numbers of the receipt, and a check sum that
// keeps garbage from being taken for a handle that has expired.
const (
	handlePrefix = "AQEB"
	handleSum    = 12
	handleSize   = 3*8 + handleSum
)

func (q *queue) handle(receipt fifo.Receipt) string {
	raw := make([]byte, 0, handleSize)
	raw = binary.BigEndian.AppendUint64(raw, q.number)
	raw = binary.BigEndian.AppendUint64(raw, receipt.Order)
	raw = binary.BigEndian.AppendUint64(raw, receipt.Take)
	return handlePrefix + base64.StdEncoding.EncodeToString(append(raw, q.handleSum(raw)...))
}

func (q *queue) handleSum(raw []byte) []byte {
	sum := sha256.Sum256(append([]byte(q.name), raw...))
	return sum[:handleSum]
}

// receipt reads a handle. Error: ReceiptHandleIsInvalid for what this queue never
// handed out.
func (q *queue) receipt(handle string) (fifo.Receipt, *apiError) {
	if len(handle) != len(handlePrefix)+base64.StdEncoding.EncodedLen(handleSize) || handle[:len(handlePrefix)] != handlePrefix {
		return fifo.Receipt{}, receiptHandleIsInvalid()
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(handle[len(handlePrefix):])
	if err != nil || len(raw) != handleSize ||
		binary.BigEndian.Uint64(raw) != q.number || string(raw[handleSize-handleSum:]) != string(q.handleSum(raw[:handleSize-handleSum])) {
		return fifo.Receipt{}, receiptHandleIsInvalid()
	}
	return fifo.Receipt{Order: binary.BigEndian.Uint64(raw[8:]), Take: binary.BigEndian.Uint64(raw[16:])}, nil
}

// deleteBy deletes the message that handle holds, in a locked queue.
func (s *Server) deleteBy(q *queue, handle string) *apiError {
	receipt, invalid := q.receipt(handle)
	if invalid != nil {
		return invalid
	}
	err := q.fifo.Delete(s.now(), receipt)
	switch {
	case errors.Is(err, fifo.ErrReceiptExpired):
		return receiptHandleExpired(handle)
	case err != nil:
		return internalFailure(err)
	}
	return nil
}

// changeBy changes the visibility of the message that handle holds, in a locked
// queue.
func (s *Server) changeBy(q *queue, handle string, timeout *int64) *apiError {
	if timeout == nil {
		return missingParameter("VisibilityTimeout")
	}
	if err := checkRange("VisibilityTimeout", *timeout, 0, maxVisibility); err != nil {
		return err
	}
	receipt, invalid := q.receipt(handle)
	if invalid != nil {
		return invalid
	}
	err := q.fifo.ChangeVisibility(s.now(), receipt, inSeconds(*timeout))
	switch {
	case errors.Is(err, fifo.ErrNotAvailable):
		return invalidValue(handle, "ReceiptHandle", "Message does not exist or is not available for visibility timeout change.")
	case errors.Is(err, fifo.ErrVisibilityLimit):
		return invalidValue(*timeout, "VisibilityTimeout",
			"Total VisibilityTimeout for the message is beyond the limit [43200 seconds].")
	case err != nil:
		return internalFailure(err)
	}
	return nil
}
