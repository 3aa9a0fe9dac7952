package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionOfABuild(t *testing.T) {
	vcs := func(settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3":             {Main: debug.Module{Version: "v1.2.3"}},
		"0123456789ab":       vcs(revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}),
		"0123456789ab+dirty": vcs(revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
		"devel":              vcs(),
	} {
		if got := versionOf(info); got != want {
			t.Errorf("version %q, want %q", got, want)
		}
	}
}
