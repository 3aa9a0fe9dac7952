package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// listedJSON is a study as ls prints it with --json.
type listedJSON struct {
	Dir      string    `json:"dir"`
	Study    string    `json:"study,omitempty"`
	State    string    `json:"state"` // running, ended, stopped, or unreadable
	Finished int       `json:"finished"`
	Trials   int       `json:"trials,omitempty"` // of the budget
	Failed   int       `json:"failed"`
	Metric   string    `json:"metric,omitempty"`
	Best     *float64  `json:"best,omitempty"`
	Updated  time.Time `json:"updated,omitzero"`
	Error    string    `json:"error,omitempty"`
}

func newLs(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "ls [FOLDER]",
		Short: "List the studies below a folder",
		Long: `Ls lists the studies in FOLDER and below, of this one if there is none: whether each
runs, how far it is, and its best value. Hidden folders are left out.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			folder := "."
			if len(args) > 0 {
				folder = args[0]
			}
			found, err := studiesBelow(folder)
			if err != nil {
				return &usageError{err}
			}
			if g.json {
				for _, s := range found {
					if err := printLine(g.out, s); err != nil {
						return err
					}
				}
				return nil
			}
			if len(found) == 0 {
				_, err := fmt.Fprintf(g.err, "no study in %s or below\n", oneLine(folder))
				return err
			}
			rows := [][]string{{"study", "state", "finished", "failed", "best", "", "last record"}}
			for _, s := range found {
				rows = append(rows, s.row())
			}
			return printTable(g.out, rows)
		},
	}
}

func (s listedJSON) row() []string {
	if s.Error != "" {
		return []string{oneLine(s.Dir), s.State, "", "", "", shortened(oneLine(s.Error), 60), ""}
	}
	finished, best := strconv.Itoa(s.Finished), "-"
	if s.Trials > 0 {
		finished += "/" + strconv.Itoa(s.Trials)
	}
	if s.Best != nil {
		best = short(*s.Best)
	}
	return []string{oneLine(s.Dir), s.State, finished, strconv.Itoa(s.Failed), best, oneLine(s.Metric), s.Updated.Local().Format(time.DateTime)}
}

// studiesBelow reads every study in a folder and below.
func studiesBelow(folder string) (found []listedJSON, err error) {
	name := filepath.Base(study.Layout("").Journal())
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == folder:
			return err
		case err != nil: // not ours to read
			return fs.SkipDir
		case !e.IsDir():
			return nil
		case strings.HasPrefix(e.Name(), ".") && path != folder:
			return fs.SkipDir
		}
		if info, err := os.Stat(filepath.Join(path, name)); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		found = append(found, listed(path))
		return fs.SkipDir
	})
	return found, err
}

func listed(dir string) listedJSON {
	out := listedJSON{Dir: dir, State: "unreadable"}
	st, _, err := study.Load(dir)
	var held bool
	if err == nil {
		held, err = journal.InUse(study.LayoutOf(dir).Journal())
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.State, _, _ = strings.Cut(st.Standing(held), ":")
	out.Study, out.Finished, out.Trials, out.Failed = st.Config.Name, len(st.Order), st.Config.Budget.Trials, st.Count(optimizer.Failed)
	out.Metric, out.Updated = metricName(&st.Config), st.Updated
	if b := st.Best(); b != nil {
		out.Best = &b.Value
	}
	return out
}
