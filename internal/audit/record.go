package audit

import "encoding/binary"

// Records have a fixed size and begin with the key that divides them into
// partitions. Times are nanoseconds since 1970, 0 where not told; places are byte
// offsets in the file, or numbers of receipts in a database.

var le = binary.LittleEndian

// sendRecord is an entry of the send log, by its id.
type sendRecord struct {
	id, message, group key
	sequence           number
	start, end         int64 // of the first attempt; of the last one, 0 without an answer
	at                 int64
	digest             uint64
	queue              uint16
	outcome            outcome
	flags              byte
}

type outcome byte

const (
	accepted outcome = iota
	duplicate
	unknown
	failed
	unsent
)

const sendSize = 100

const hasSequence byte = 1 // flag of sends and of order records

func (r *sendRecord) put(b []byte) []byte {
	b = append(b, r.id[:]...)
	b = append(b, r.message[:]...)
	b = append(b, r.group[:]...)
	b = le.AppendUint64(b, r.sequence.high)
	b = le.AppendUint64(b, r.sequence.low)
	b = le.AppendUint64(b, uint64(r.start))
	b = le.AppendUint64(b, uint64(r.end))
	b = le.AppendUint64(b, uint64(r.at))
	b = le.AppendUint64(b, r.digest)
	b = le.AppendUint16(b, r.queue)
	return append(b, byte(r.outcome), r.flags)
}

func (r *sendRecord) get(b []byte) {
	_ = b[sendSize-1]
	copy(r.id[:], b)
	copy(r.message[:], b[16:])
	copy(r.group[:], b[32:])
	r.sequence = number{le.Uint64(b[48:]), le.Uint64(b[56:])}
	r.start, r.end, r.at = int64(le.Uint64(b[64:])), int64(le.Uint64(b[72:])), int64(le.Uint64(b[80:]))
	r.digest, r.queue, r.outcome, r.flags = le.Uint64(b[88:]), le.Uint16(b[96:]), outcome(b[98]), b[99]
}

// deliveryRecord is a receipt, by its id.
type deliveryRecord struct {
	id, message, named key // named: the message that it may be a moved copy of
	sent, received     int64
	at                 int64
	digest             uint64
	count              uint32 // 0: not told
	queue              uint16
	kind               receiptKind
	flags              byte
}

type receiptKind byte

const (
	fresh receiptKind = iota
	redelivered
	repeated
	rejected
	pending
	failedAttempt
)

// done reports whether the consumer was done with the message; else it comes again, or
// is moved aside.
func (k receiptKind) done() bool { return k == fresh || k == redelivered || k == repeated }

const deliverySize = 88

// Flags of deliveries.
const (
	judged  byte = 1 << iota // on a queue that the send log names
	moved                    // its deduplication id was replaced on the way
	copied                   // a redriven copy of the message named
	byHash                   // keyed by the consumer's own hash: its digest may be of another selection
	byOther                  // keyed by something else than the producer's attribute
)

func (r *deliveryRecord) put(b []byte) []byte {
	b = append(b, r.id[:]...)
	b = append(b, r.message[:]...)
	b = append(b, r.named[:]...)
	b = le.AppendUint64(b, uint64(r.sent))
	b = le.AppendUint64(b, uint64(r.received))
	b = le.AppendUint64(b, uint64(r.at))
	b = le.AppendUint64(b, r.digest)
	b = le.AppendUint32(b, r.count)
	b = le.AppendUint16(b, r.queue)
	return append(b, byte(r.kind), r.flags)
}

func (r *deliveryRecord) get(b []byte) {
	_ = b[deliverySize-1]
	copy(r.id[:], b)
	copy(r.message[:], b[16:])
	copy(r.named[:], b[32:])
	r.sent, r.received, r.at = int64(le.Uint64(b[48:])), int64(le.Uint64(b[56:])), int64(le.Uint64(b[64:]))
	r.digest, r.count, r.queue = le.Uint64(b[72:]), le.Uint32(b[80:]), le.Uint16(b[84:])
	r.kind, r.flags = receiptKind(b[86]), b[87]
}

func (r *deliveryRecord) is(flag byte) bool { return r.flags&flag != 0 }

// orderRecord is a receipt, by its message group.
type orderRecord struct {
	group    key
	sequence number
	sent     int64
	received int64
	at       int64
	series   uint32 // of receipts with rising numbers: one consumer's file
	count    byte   // 0: not told; 2: two or more
	kind     receiptKind
	flags    byte
}

const orderSize = 64

func (r *orderRecord) put(b []byte) []byte {
	b = append(b, r.group[:]...)
	b = le.AppendUint64(b, r.sequence.high)
	b = le.AppendUint64(b, r.sequence.low)
	b = le.AppendUint64(b, uint64(r.sent))
	b = le.AppendUint64(b, uint64(r.received))
	b = le.AppendUint64(b, uint64(r.at))
	b = le.AppendUint32(b, r.series)
	return append(b, r.count, byte(r.kind), r.flags, 0)
}

func (r *orderRecord) get(b []byte) {
	_ = b[orderSize-1]
	copy(r.group[:], b)
	r.sequence = number{le.Uint64(b[16:]), le.Uint64(b[24:])}
	r.sent, r.received, r.at = int64(le.Uint64(b[32:])), int64(le.Uint64(b[40:])), int64(le.Uint64(b[48:]))
	r.series, r.count, r.kind, r.flags = le.Uint32(b[56:]), b[60], receiptKind(b[61]), b[62]
}

// placeRecord is a receipt's place by some key: a fresh one's by the consumer's, an
// unfinished message's by its first MessageId.
type placeRecord struct {
	key key
	at  int64
}

const placeSize = 24

func (r *placeRecord) put(b []byte) []byte {
	return le.AppendUint64(append(b, r.key[:]...), uint64(r.at))
}

func (r *placeRecord) get(b []byte) {
	copy(r.key[:], b)
	r.at = int64(le.Uint64(b[16:]))
}

// nameRecord is the id under which a message came, by the message in its queue. 64
// bits of the id are enough: they are only compared within a message.
type nameRecord struct {
	message key
	id      uint64
	at      int64
}

const nameSize = 32

func (r *nameRecord) put(b []byte) []byte {
	b = append(b, r.message[:]...)
	b = le.AppendUint64(b, r.id)
	return le.AppendUint64(b, uint64(r.at))
}

func (r *nameRecord) get(b []byte) {
	_ = b[nameSize-1]
	copy(r.message[:], b)
	r.id, r.at = le.Uint64(b[16:]), int64(le.Uint64(b[24:]))
}

// missingRecord is a message that was accepted and of which no delivery is on record
// under its id: behind its MessageId and its group, or the other way round.
type missingRecord struct {
	sequence   number
	start, end int64
	at         int64
	other      int64 // place of the delivery beside which it is open, or -1
	queue      uint16
	why        byte // index into openReasons; 0 where it is suspected of being lost
	flags      byte
}

const missingSize = 84

func (r *missingRecord) put(b []byte, first, second key) []byte {
	b = append(b, first[:]...)
	b = append(b, second[:]...)
	b = le.AppendUint64(b, r.sequence.high)
	b = le.AppendUint64(b, r.sequence.low)
	b = le.AppendUint64(b, uint64(r.start))
	b = le.AppendUint64(b, uint64(r.end))
	b = le.AppendUint64(b, uint64(r.at))
	b = le.AppendUint64(b, uint64(r.other))
	b = le.AppendUint16(b, r.queue)
	return append(b, r.why, r.flags)
}

func (r *missingRecord) get(b []byte) (first, second key) {
	_ = b[missingSize-1]
	copy(first[:], b)
	copy(second[:], b[16:])
	r.sequence = number{le.Uint64(b[32:]), le.Uint64(b[40:])}
	r.start, r.end = int64(le.Uint64(b[48:])), int64(le.Uint64(b[56:]))
	r.at, r.other = int64(le.Uint64(b[64:])), int64(le.Uint64(b[72:]))
	r.queue, r.why, r.flags = le.Uint16(b[80:]), b[82], b[83]
	return first, second
}

// strayRecord is a message that was delivered and of whose id no send is on record,
// by its MessageId.
type strayRecord struct {
	message, named key
	sent, received int64
	at             int64
	queue          uint16
}

const straySize = 58

func (r *strayRecord) put(b []byte) []byte {
	b = append(b, r.message[:]...)
	b = append(b, r.named[:]...)
	b = le.AppendUint64(b, uint64(r.sent))
	b = le.AppendUint64(b, uint64(r.received))
	b = le.AppendUint64(b, uint64(r.at))
	return le.AppendUint16(b, r.queue)
}

func (r *strayRecord) get(b []byte) {
	_ = b[straySize-1]
	copy(r.message[:], b)
	copy(r.named[:], b[16:])
	r.sent, r.received, r.at = int64(le.Uint64(b[32:])), int64(le.Uint64(b[40:])), int64(le.Uint64(b[48:]))
	r.queue = le.Uint16(b[56:])
}
