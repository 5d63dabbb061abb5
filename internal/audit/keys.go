package audit

import (
	"encoding/binary"
	"hash/maphash"
)

// key stands for a text, or a tuple of texts: 128 bits of hash. Among 20 million
// keys two meet by chance with a probability of 1 in 10^24.
type key [16]byte

// keyer makes keys. The seeds are of one audit: nobody can prepare texts that meet.
// It is not safe for concurrent use; twin makes another that makes the same keys.
type keyer struct {
	seeds   [2]maphash.Seed
	scratch []byte
}

func newKeyer() *keyer {
	return &keyer{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (k *keyer) twin() *keyer { return &keyer{seeds: k.seeds} }

// of is the key of the parts: the length of each goes in with it, so that no choice
// of characters makes two tuples one.
func (k *keyer) of(domain byte, queue uint16, parts ...[]byte) (out key) {
	b := k.scratch[:0]
	b = append(b, domain)
	b = binary.LittleEndian.AppendUint16(b, queue)
	for _, part := range parts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	k.scratch = b
	binary.LittleEndian.PutUint64(out[:], maphash.Bytes(k.seeds[0], b))
	binary.LittleEndian.PutUint64(out[8:], maphash.Bytes(k.seeds[1], b))
	return out
}

// The domains keep keys of different things apart.
const (
	ofID byte = iota
	ofMessage
	ofGroup
	ofEffect
	ofNobody // of a receipt that tells nothing to know it by
)

// digest is 64 bits of a body digest, which is only ever compared with those of the
// same id; 0 stands for none.
func (k *keyer) digest(text []byte) uint64 {
	if len(text) == 0 {
		return 0
	}
	return maphash.Bytes(k.seeds[0], text) | 1
}
