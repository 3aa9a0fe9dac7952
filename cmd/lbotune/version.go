package main

import (
	"cmp"
	_ "embed" // for notices
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/journal"
)

// stamped is the version that a release was built as. Nothing but the linker
// sets it: -ldflags "-X main.stamped=v1.2.3".
var stamped string

// programVersion is the version of a release, or what the go command found: one, or a commit.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if stamped != "" || !ok {
		return cmp.Or(stamped, "unknown")
	}
	return cmp.Or(strings.Trim(info.Main.Version, "()"), "devel")
}

func newVersion(g *global) *cobra.Command {
	var licenses bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			if licenses {
				_, err := g.out.Write(notices)
				return err
			}
			return printVersion(g)
		},
	}
	cmd.Flags().BoolVar(&licenses, "licenses", false, "print the licenses of everything in the program instead")
	return cmd
}

// notices are the licenses of all modules in the program, as scripts/notices.sh gathers them.
//
//go:embed notices.txt
var notices []byte

type versionJSON struct {
	Version  string `json:"version"`
	Journal  int    `json:"journal"` // version of its format
	JSON     int    `json:"json"`    // version of what --json prints
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func printVersion(g *global) error {
	v, platform := programVersion(), runtime.GOOS+"/"+runtime.GOARCH
	return g.show(versionJSON{v, journal.Version, jsonVersion, runtime.Version(), platform},
		fmt.Sprintf("lbotune %s (journal format %d, %s, %s)\n", v, journal.Version, runtime.Version(), platform))
}
