package conformance

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVary(t *testing.T) {
	t.Parallel()
	body := `{"a/b": {"~": 7301234567890123456}, "list": ["x", 0e3, null], "ok": true, "none": {}}`
	variants, fields, err := vary([]byte(body))
	require.NoError(t, err)
	got := map[string]string{}
	for _, v := range variants {
		require.True(t, json.Valid([]byte(v.body)))
		got[fields[v.field].Pointer+" "+string(v.change)] = v.body
	}
	require.Equal(t, map[string]string{
		" added":           `{"a/b":{"~":7301234567890123456},"added":true,"list":["x",0e3,null],"none":{},"ok":true}`,
		"/a~1b added":      `{"a/b":{"added":true,"~":7301234567890123456},"list":["x",0e3,null],"none":{},"ok":true}`,
		"/a~1b removed":    `{"list":["x",0e3,null],"none":{},"ok":true}`,
		"/a~1b/~0 changed": `{"a/b":{"~":0},"list":["x",0e3,null],"none":{},"ok":true}`,
		"/a~1b/~0 removed": `{"a/b":{},"list":["x",0e3,null],"none":{},"ok":true}`,
		"/list added":      `{"a/b":{"~":7301234567890123456},"list":["x",0e3,null,true],"none":{},"ok":true}`,
		"/list removed":    `{"a/b":{"~":7301234567890123456},"none":{},"ok":true}`,
		"/list/0 changed":  `{"a/b":{"~":7301234567890123456},"list":["x~",0e3,null],"none":{},"ok":true}`,
		"/list/0 removed":  `{"a/b":{"~":7301234567890123456},"list":[0e3,null],"none":{},"ok":true}`,
		"/list/1 changed":  `{"a/b":{"~":7301234567890123456},"list":["x",1,null],"none":{},"ok":true}`,
		"/list/1 removed":  `{"a/b":{"~":7301234567890123456},"list":["x",null],"none":{},"ok":true}`,
		"/list/2 changed":  `{"a/b":{"~":7301234567890123456},"list":["x",0e3,false],"none":{},"ok":true}`,
		"/list/2 removed":  `{"a/b":{"~":7301234567890123456},"list":["x",0e3],"none":{},"ok":true}`,
		"/ok changed":      `{"a/b":{"~":7301234567890123456},"list":["x",0e3,null],"none":{},"ok":false}`,
		"/ok removed":      `{"a/b":{"~":7301234567890123456},"list":["x",0e3,null],"none":{}}`,
		"/none added":      `{"a/b":{"~":7301234567890123456},"list":["x",0e3,null],"none":{"added":true},"ok":true}`,
		"/none removed":    `{"a/b":{"~":7301234567890123456},"list":["x",0e3,null],"ok":true}`,
	}, got)
}

func TestVaryScalars(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`"x"`: `"x~"`, `true`: `false`, `null`: `false`, `5`: `0`, `-0.0`: `1`, `1e-999999999`: `0`,
	} {
		variants, fields, err := vary([]byte(body))
		require.NoError(t, err)
		require.Len(t, variants, 1, body)
		require.Len(t, fields, 1, body)
		require.Equal(t, want, variants[0].body, body)
	}
}
