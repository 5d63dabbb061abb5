package emulator

import (
	crand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync"
)

// ids makes message and request ids. From one seed it makes the same ones, in the
// order they are asked for.
type ids struct {
	mu     sync.Mutex
	random *rand.ChaCha8
}

func newIDs(seed uint64) *ids { return &ids{random: rand.NewChaCha8(keyOf(seed))} }

func keyOf(seed uint64) (key [32]byte) {
	if seed == 0 {
		_, _ = crand.Read(key[:]) // never fails since Go 1.24
	} else {
		binary.BigEndian.PutUint64(key[:], seed)
	}
	return key
}

// uuid makes a version 4 UUID (RFC 9562 section 5.4), the form of SQS's ids.
func (i *ids) uuid() string {
	var raw [16]byte
	i.mu.Lock()
	_, _ = i.random.Read(raw[:]) // never fails
	i.mu.Unlock()
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[:], raw[:4])
	hex.Encode(text[9:], raw[4:6])
	hex.Encode(text[14:], raw[6:8])
	hex.Encode(text[19:], raw[8:10])
	hex.Encode(text[24:], raw[10:])
	for _, dash := range []int{8, 13, 18, 23} {
		text[dash] = '-'
	}
	return string(text[:])
}

// chance is what variants and disturbances leave to chance, in a stream of its own,
// so that they change no id.
type chance struct {
	mu     sync.Mutex
	random *rand.ChaCha8
}

func newChance(seed uint64) *chance {
	key := keyOf(seed)
	key[len(key)-1] ^= 1
	return &chance{random: rand.NewChaCha8(key)}
}

// hit is true with probability p.
func (c *chance) hit(p float64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(c.random.Uint64()>>11)/(1<<53) < p
}

// below is a number from 0 to n-1.
func (c *chance) below(n int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(c.random.Uint64() % uint64(n)) // as even as it needs to be
}
