package contenthash

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// seed adds the bodies of all vectors and a few of other shapes.
func seed(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "vectors", "*.json"))
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		var vectors []struct{ Body, Hex string }
		require.NoError(f, json.Unmarshal(raw, &vectors))
		for _, v := range vectors {
			body := []byte(v.Body)
			if v.Hex != "" {
				body, err = hex.DecodeString(v.Hex)
				require.NoError(f, err)
			}
			f.Add(body)
		}
	}
	order := orderBody(f, 700)
	f.Add(order)
	var indented bytes.Buffer
	require.NoError(f, json.Indent(&indented, order, "", "\t"))
	f.Add(indented.Bytes())
	canonical, err := mustNew(f, Options{}).Canonical(nil, order)
	require.NoError(f, err)
	f.Add(canonical)
}

// FuzzCanonical looks for a body on which this package and the oracles differ.
func FuzzCanonical(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		agree(t, body)
		checkSelections(t, body)
	})
}

// FuzzFastPath looks for a body that is taken as it stands and is not canonical,
// or the other way round.
func FuzzFastPath(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		checkFastPath(t, body)
		if text, err := hashers.exact.Canonical(nil, body); err == nil {
			checkFastPath(t, text)
			require.NotEmpty(t, text)
		}
	})
}

// checkSelections holds what selections promise on any body.
func checkSelections(t require.TestingT, body []byte) {
	plain, err := hashers.exact.Canonical(nil, body)
	wellFormed := err == nil
	for _, h := range []*Hasher{hashers.exclude, hashers.include} {
		x, err := h.Explain(body, "")
		if err != nil {
			checkError(t, body, err)
			continue
		}
		require.True(t, wellFormed)
		// A selection's text is canonical, and leaves something out or nothing.
		text, err := hashers.exact.Canonical(nil, []byte(x.Canonical))
		require.NoError(t, err)
		require.Equal(t, x.Canonical, string(text))
		if h == hashers.exclude {
			require.Equal(t, len(x.LeftOut) == 0, x.Canonical == string(plain))
		}
		for _, pointer := range x.LeftOut {
			_, found, err := Lookup(body, pointer)
			require.NoError(t, err)
			require.True(t, found, pointer)
		}
	}
}
