package contenthash

import (
	"slices"
	"sync"
)

const (
	// maxDepth is how many arrays and objects may stand in one another. Ten times
	// what event bodies need, and low enough for every JSON reader downstream.
	maxDepth = 1000

	// maxBody bounds a body, 256 times what SQS takes, so that every offset in its
	// canonical text (at most 22 bytes for four, as in 1e20) fits 31 bits.
	maxBody = 1 << 28

	// keepBuffers is the size up to which an engine goes back to the pool: a body
	// of 1 MiB, the SQS limit, keeps its buffers, a larger one does not pin memory.
	keepBuffers = 8 << 20

	// shapeBits sets how many shapes of objects an engine remembers.
	shapeBits = 6
)

// An engine holds the buffers of one canonicalisation.
//
// The body is scanned once. As long as everything in it is canonical but for the
// order of members, nothing is copied: positions in the "document text" (the
// canonical text with the members still in document order) are positions in the
// body. The first white space, needless escape or respelled number starts a copy
// in out, and from there on the two positions differ by a delta. Objects whose
// names are out of order, or that lose members, leave a record; when there is any,
// a second walk puts the document text in order, copying every byte once however
// deep it stands.
type engine struct {
	body []byte // the caller's bytes and padding
	n    int    // length without the padding

	out    []byte // document text where it differs from the body, up to mark
	mark   int    // body offset up to which out has been written
	copied bool   // out is in use

	delta int   // document text offset of the scan's place, less its body offset
	vnode int32 // of the selection, for the coming value

	frames      [maxDepth + 1]frame // the open containers, from the top of the body
	members     []member            // members of the open objects
	memberCount int
	objects     []object // every object, in the order of its opening brace
	objectCount int
	sorted      []member // sorted members of the objects that must be put in order
	moved       int      // those objects

	shapes [1 << shapeBits]shape
	places []place // scratch for sorting

	keys   []byte // sort keys that are not in the body as they stand
	digits []byte // scratch for numbers

	final []byte // the canonical text where it differs from the document text
	group []byte // what is hashed when the message group is in it

	strict    bool
	selection *selection
	hits      []hit // per pointer of selection
}

// member is a name and its value inside an object.
type member struct {
	prefix uint64 // the sort key's first eight bytes, big-endian, zero-filled
	key    int32  // where the sort key begins: behind the name's quote in the body or, if decoded, in keys
	keyLen int32  // its length, and the two flags
	start  int32  // of the name, in the document text
	end    int32  // of the value
	object int32  // number of objects opened before this member
}

const (
	decodedKey = 1 << 30 // the key lies in engine.keys, the body offset of the name before it
	leftOut    = 1 << 29 // the selection leaves this member out
	keyLength  = leftOut - 1
)

// object is a record of an object in the document text.
type object struct {
	start, end int32 // of the braces: start of '{', position of '}'
	base, n    int32 // its members in engine.sorted; n < 0: in order as it stands
	next       int32 // the first object that was opened after this one was closed
}

// frame is what the scan knows of an open container.
type frame struct {
	kind    uint8
	node    int32  // of the selection
	index   int32  // array: of the element; counted only where a selection needs it
	base    int32  // object: its first member
	object  int32  // object: its record
	ordered uint64 // object: all ones, or 0 when its members must be put in order
}

const (
	top uint8 = iota
	inObject
	inArray
)

// hit is what a message holds of a selection's pointer.
type hit struct {
	found, null bool
	at          int32 // of the value, in the body
	start       int32 // and in the document text
	object      int32 // number of objects opened before it
}

var engines = sync.Pool{New: func() any { return new(engine) }}

func (e *engine) release() {
	if cap(e.body)+cap(e.out)+cap(e.final)+cap(e.group)+cap(e.keys)+cap(e.digits)+32*(cap(e.members)+cap(e.sorted))+20*cap(e.objects)+16*cap(e.places) > keepBuffers {
		return
	}
	e.selection = nil
	engines.Put(e)
}

// run makes the canonical text of body, selection applied. The text is valid
// until the engine is used again.
func (e *engine) run(body []byte, strict bool, s *selection) ([]byte, error) {
	if len(body) > maxBody {
		return nil, fault(TooLong, maxBody, 0, "body longer than 268435456 bytes", "")
	}
	e.body = append(append(e.body[:0], body...), zeros[:]...)
	e.n = len(body)
	e.out, e.mark, e.copied = e.out[:0], 0, false
	e.memberCount, e.objectCount, e.sorted, e.moved = 0, 0, e.sorted[:0], 0
	e.delta, e.vnode = 0, plainNode
	e.keys = e.keys[:0]
	e.strict, e.selection = strict, s
	if s != nil {
		e.hits = slices.Grow(e.hits[:0], len(s.pointers))[:len(s.pointers)]
		clear(e.hits)
		e.vnode = rootNode
	}
	if err := e.scan(); err != nil {
		err.Pointer = pointerAt(e.body[:e.n], err.Offset)
		return nil, err
	}
	return e.finish()
}

var zeros [padding]byte

// splice puts text in place of body[from:to] in the document text.
func (e *engine) splice(from, to int, text []byte) {
	e.copied = true
	e.out = append(append(e.out, e.body[e.mark:from]...), text...)
	e.mark = to
	e.delta = len(e.out) - to
}
