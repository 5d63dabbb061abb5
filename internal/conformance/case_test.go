package conformance

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIdsAreForever holds the list of ids, in the order of the alphabet: CI jobs and
// known-failing lists name them. An id is added, never changed or removed.
func TestIdsAreForever(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/ids.txt")
	require.NoError(t, err)
	var got []string
	for _, c := range Catalogue() {
		got = append(got, c.ID)
	}
	slices.Sort(got)
	require.Equal(t, strings.Fields(string(want)), got)
}

func TestCatalogueIsComplete(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`^(window|scope|content|batch|lifecycle|validate|receive|deadletter|response|transport)(/[a-z0-9]+(-[a-z0-9]+)*){2}$`)
	seen := map[string]bool{}
	for _, c := range Catalogue() {
		require.Regexp(t, id, c.ID)
		require.False(t, seen[c.ID], "%s is there twice", c.ID)
		seen[c.ID] = true
		require.Contains(t, []Level{Must, Should, Info}, c.Level, c.ID)
		require.NotEmpty(t, c.Source, c.ID)
		require.NotEmpty(t, c.Text, c.ID)
		require.NotEmpty(t, c.Want, c.ID)
		require.NotNil(t, c.steps, c.ID)
		require.NotEmpty(t, c.Timeline, c.ID)
		if c.Level == Must {
			require.NotEqual(t, unpublished, c.Source, "%s: a MUST has a source", c.ID)
		}
		for _, p := range c.Premises {
			require.Contains(t, []string{orderPremise, unlockPremise}, p, c.ID)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	cases := []Case{{ID: "window/resend/half-time"}, {ID: "window/anchor/reopens"}, {ID: "lifecycle/resend/after-delete"}}
	for _, tt := range []struct {
		globs []string
		want  []string
		err   string
	}{
		{nil, []string{"window/resend/half-time", "window/anchor/reopens", "lifecycle/resend/after-delete"}, ""},
		{[]string{"window"}, []string{"window/resend/half-time", "window/anchor/reopens"}, ""},
		{[]string{"window/*"}, []string{"window/resend/half-time", "window/anchor/reopens"}, ""},
		{[]string{"*/resend"}, []string{"window/resend/half-time", "lifecycle/resend/after-delete"}, ""},
		{[]string{"*/*/after-*"}, []string{"lifecycle/resend/after-delete"}, ""},
		{[]string{"lifecycle", "window/anchor/reopens"}, []string{"window/anchor/reopens", "lifecycle/resend/after-delete"}, ""},
		{[]string{"window", "wind"}, nil, `no case matches "wind"`},
		{[]string{"["}, nil, "syntax error in pattern"},
		{[]string{""}, nil, "no case matches"},
	} {
		got, err := Select(cases, tt.globs)
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err)
			continue
		}
		require.NoError(t, err)
		var ids []string
		for _, c := range got {
			ids = append(ids, c.ID)
		}
		require.Equal(t, tt.want, ids, "%q", tt.globs)
	}
}
