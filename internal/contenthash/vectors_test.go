package contenthash_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fifoproof/internal/contenthash"
)

// vector is described in testdata/vectors/README.md. The expected values come
// from the Python program beside the vectors.
type vector struct {
	Name, Body, Hex                           string
	Strict                                    bool
	Exclude, Include, AllowNull, AllowMissing []string
	Group                                     *string
	Canonical, Hashed, ID                     string
	Error, Pointer                            string
	Offset                                    int
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for category, atLeast := range map[string]int{"numbers": 80, "strings": 45, "objects": 50, "selections": 40, "groups": 9} {
		t.Run(category, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join("testdata", "vectors", category+".json"))
			require.NoError(t, err)
			var vectors []vector
			require.NoError(t, json.Unmarshal(raw, &vectors))
			require.GreaterOrEqual(t, len(vectors), atLeast)
			for _, v := range vectors {
				t.Run(v.Name, func(t *testing.T) { v.check(t) })
			}
		})
	}
}

func (v vector) check(t *testing.T) {
	t.Helper()
	h, err := contenthash.New(contenthash.Options{
		Strict: v.Strict, Exclude: v.Exclude, Include: v.Include,
		AllowNull: v.AllowNull, AllowMissing: v.AllowMissing, WithGroup: v.Group != nil,
	})
	require.NoError(t, err)
	body := []byte(v.Body)
	if v.Hex != "" {
		body, err = hex.DecodeString(v.Hex)
		require.NoError(t, err)
	}
	group := ""
	if v.Group != nil {
		group = *v.Group
	}
	given := bytes.Clone(body)
	id, err := h.ID(body, group)
	require.Equal(t, given, body, "the caller's bytes")
	if v.Error != "" {
		var fault *contenthash.Error
		require.ErrorAs(t, err, &fault)
		require.Equal(t, v.Error, string(fault.Kind), err)
		require.ErrorIs(t, err, fault.Kind)
		require.Equal(t, v.Pointer, fault.Pointer, err)
		require.Equal(t, v.Offset, fault.Offset, err)
		require.Empty(t, id)
		return
	}
	require.NoError(t, err)
	canonical, err := h.Canonical([]byte("> "), body)
	require.NoError(t, err)
	require.Equal(t, "> "+v.Canonical, string(canonical))
	hashed, err := h.Hashed(nil, body, group)
	require.NoError(t, err)
	if v.Hashed == "" {
		v.Hashed = v.Canonical
	}
	require.Equal(t, v.Hashed, string(hashed))
	require.Equal(t, v.ID, id)
	sum, err := h.Sum(body, group)
	require.NoError(t, err)
	require.Equal(t, v.ID, hex.EncodeToString(sum[:]))
	digest, err := h.Digest(body)
	require.NoError(t, err)
	require.Equal(t, sha256.Sum256([]byte(v.Canonical)), digest)
	explanation, err := h.Explain(body, group)
	require.NoError(t, err)
	require.Equal(t, v.ID, explanation.ID)
	require.Equal(t, v.Canonical, explanation.Canonical)
}

// TestPairs runs the pairs of bodies that lie beside the module, where there are
// any: each says whether its two bodies must have one id.
func TestPairs(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "contenthash-pairs.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no contenthash-pairs.json beside the module: testdata/vectors covers the same kinds")
	}
	require.NoError(t, err)
	var pairs []struct {
		Name, A, B    string
		Hex           bool
		Equal, Strict any // true, false, or "error"
	}
	require.NoError(t, json.Unmarshal(raw, &pairs))
	require.NotEmpty(t, pairs)
	for _, strict := range []bool{false, true} {
		h, err := contenthash.New(contenthash.Options{Strict: strict})
		require.NoError(t, err)
		for _, p := range pairs {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				a, b := []byte(p.A), []byte(p.B)
				if p.Hex {
					var err error
					a, err = hex.DecodeString(p.A)
					require.NoError(t, err)
					b, err = hex.DecodeString(p.B)
					require.NoError(t, err)
				}
				idA, errA := h.ID(a, "")
				idB, errB := h.ID(b, "")
				want := p.Equal
				if strict {
					want = p.Strict
				}
				switch {
				case want != "error":
					require.NoError(t, errA)
					require.NoError(t, errB)
					require.Equal(t, want, idA == idB)
				case strict: // either side
					require.Error(t, errors.Join(errA, errB))
				default:
					require.Error(t, errA)
					require.NoError(t, errB)
				}
			})
		}
	}
}
