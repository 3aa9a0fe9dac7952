package main

import (
	"cmp"
	_ "embed" // for notices
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/journal"
)

// stamped is the version that a release was built as. Nothing but the linker
// sets it: -ldflags "-X main.stamped=v1.2.3".
var stamped string

// programVersion is the version of a release, of the module that go install
// built, or the commit it was built from.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if stamped != "" || !ok {
		return cmp.Or(stamped, "unknown")
	}
	return versionOf(info)
}

// versionOf is the version in what the go command says of a build.
func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	version, modified := "devel", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			version = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+dirty"
		}
	}
	return version + modified
}

func newVersion(g *global) *cobra.Command {
	var licenses bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if licenses {
				_, err := g.out.Write(notices)
				return err
			}
			return printVersion(g)
		},
	}
	cmd.Flags().BoolVar(&licenses, "licenses", false, "print the licenses of what is part of the program instead")
	return cmd
}

// notices are the licenses of all modules in the program, as scripts/notices.sh gathers them.
//
//go:embed notices.txt
var notices []byte

// versionJSON is what version prints with --json.
type versionJSON struct {
	Version  string `json:"version"`
	Journal  int    `json:"journal"` // version of its format
	JSON     int    `json:"json"`    // version of what --json prints
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func printVersion(g *global) error {
	v, platform := programVersion(), runtime.GOOS+"/"+runtime.GOARCH
	if g.json {
		return printJSON(g.out, versionJSON{v, journal.Version, jsonVersion, runtime.Version(), platform})
	}
	_, err := fmt.Fprintf(g.out, "lbotune %s (journal format %d, %s, %s)\n", v, journal.Version, runtime.Version(), platform)
	return err
}
