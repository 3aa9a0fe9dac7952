package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/study"
)

func newRepair(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "repair STUDY NEWFILE",
		Short: "Write a new journal from the records that can be trusted",
		Long: `Repair writes NEWFILE with every record of a damaged journal that an unbroken
chain of checksums vouches for, and lists what it dropped. The damaged journal
is left as it is: to continue, move NEWFILE into its place.`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := studyDir(args[0])
			if err != nil {
				return err
			}
			path := study.LayoutOf(dir).Journal()
			rep, err := journal.Repair(path, args[1])
			if errors.Is(err, fs.ErrExist) {
				return hinted(err, "repair never overwrites: name a new file")
			}
			if err != nil {
				return err
			}
			return printRepaired(g, path, args[1], rep)
		},
	}
}

// repairedJSON is what journal repair prints with --json.
type repairedJSON struct {
	Journal string        `json:"journal"`
	Kept    uint64        `json:"kept"` // records
	Mended  []findingJSON `json:"mended"`
	Dropped []findingJSON `json:"dropped"`
}

// findingJSON is a line that repair mended or dropped.
type findingJSON struct {
	Line   int    `json:"line"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Reason string `json:"reason"`
}

func printRepaired(g *global, from, to string, rep journal.Repaired) error {
	list := func(fs []journal.Finding) []findingJSON {
		out := []findingJSON{}
		for _, f := range fs {
			out = append(out, findingJSON{f.Line, f.Offset, f.Length, f.Reason})
		}
		return out
	}
	mended, dropped := list(rep.Mended), list(rep.Dropped)
	if g.json {
		return printJSON(g.out, repairedJSON{to, rep.Kept, mended, dropped})
	}
	var s strings.Builder
	for _, f := range mended {
		fmt.Fprintf(&s, "mended line %d: %s\n", f.Line, oneLine(f.Reason))
	}
	for _, f := range dropped {
		fmt.Fprintf(&s, "dropped line %d (%d bytes at %d): %s\n", f.Line, f.Bytes, f.Offset, oneLine(f.Reason))
	}
	fmt.Fprintf(&s, "%s: %s, %d mended, %d dropped\nto go on with it: mv %s %s\n", oneLine(to), count(int(rep.Kept), "record"),
		len(mended), len(dropped), oneLine(to), oneLine(from))
	_, err := fmt.Fprint(g.out, s.String())
	return err
}
