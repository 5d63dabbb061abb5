package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is what the programs and the endpoint say of themselves.
const Version = "0.1.0"

// commit is set by the linker where Git is out of the build's reach, such as in a
// container: -ldflags "-X fifoproof/internal/cli.commit=…".
var commit string

// sdk is the module that says how we talk to a queue.
const sdk = "github.com/aws/aws-sdk-go-v2/service/sqs"

const unknown = "unknown"

// versionText is what --version prints: first the program and its version, then what
// it was built from, a line each.
func versionText(program string) string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return fmt.Sprintf("%s %s\ncommit %s\nbuilt with %s for %s/%s\naws-sdk-go-v2/service/sqs %s",
		program, Version, commitOf(build), runtime.Version(), runtime.GOOS, runtime.GOARCH, moduleOf(build, sdk))
}

// commitOf is the commit that a build was made from, with ", modified" where the
// working tree held something else.
func commitOf(build *debug.BuildInfo) string {
	if commit != "" {
		return commit
	}
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	switch {
	case settings["vcs.revision"] == "":
		return unknown
	case settings["vcs.modified"] == "true":
		return settings["vcs.revision"] + ", modified"
	default:
		return settings["vcs.revision"]
	}
}

// moduleOf is the version of a module in a build.
func moduleOf(build *debug.BuildInfo, path string) string {
	for _, m := range build.Deps {
		if m.Path != path {
			continue
		}
		for m.Replace != nil {
			m = m.Replace
		}
		return m.Version
	}
	return unknown
}
