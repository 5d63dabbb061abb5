package cli

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionText(t *testing.T) {
	t.Parallel()
	require.Regexp(t, `^prog \d+\.\d+\.\d+\ncommit .+\nbuilt with go1\S* for \w+/\w+\naws-sdk-go-v2/service/sqs \S+$`, versionText("prog"))
}

func TestCommitOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, "unknown"},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, "unknown"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "4f2a"}, {Key: "vcs.modified", Value: "false"}}, "4f2a"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "4f2a"}, {Key: "vcs.modified", Value: "true"}}, "4f2a, modified"},
	} {
		require.Equal(t, tt.want, commitOf(&debug.BuildInfo{Settings: tt.settings}))
	}
}

func TestModuleOf(t *testing.T) {
	t.Parallel()
	build := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "example.org/other", Version: "v9.0.0"},
		{Path: sdk, Version: "v1.2.3"},
	}}
	require.Equal(t, "v1.2.3", moduleOf(build, sdk))
	build.Deps[1].Replace = &debug.Module{Path: "example.org/fork", Version: "v1.2.4"}
	require.Equal(t, "v1.2.4", moduleOf(build, sdk), "what is linked counts")
	require.Equal(t, "unknown", moduleOf(build, "example.org/none"))
}
