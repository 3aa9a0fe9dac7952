package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/study"
)

func newLs(g *global, above *cobra.Command) {
	cmd := newCommand(above, "ls [FOLDER]", "List the studies below a folder",
		`Ls lists the studies in FOLDER (default: the current one) and below: whether each runs,
how far along it is, and its best value. It skips hidden folders, and follows
a link to a folder only if that folder is a study.`)
	cmd.Aliases = []string{"list"}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		folder := append(args, ".")[0]
		found, err := (&lister{folder: folder}).list()
		switch {
		case err != nil:
			return usage(err)
		case g.json:
			return printLines(g.out, found, func(s report.Listed) any { return s })
		case len(found) == 0:
			_, err := fmt.Fprintf(g.err, "no study in %s or below\n", oneLine(folder))
			return err
		}
		rows := [][]string{{"study", "state", "finished", "failed", "best", "", "last record"}}
		return g.print("%s", tableText(append(rows, lists.Map(found, listRow)...), 0))
	}
}

func listRow(s report.Listed) []string {
	if s.Error != "" {
		return []string{oneLine(s.Dir), s.State, "", "", "", shortened(oneLine(s.Error), 60), ""}
	}
	finished, best := strconv.Itoa(s.Finished)+when(s.Trials > 0, "/%d", s.Trials), "-"
	if s.Best != nil {
		best = short(*s.Best)
	}
	return []string{oneLine(s.Dir), s.State, finished, strconv.Itoa(s.Failed), best, oneLine(s.Metric) + when(s.Over, ", over a limit"), s.Updated.Local().Format(time.DateTime)}
}

type lister struct {
	folder string
	seen   map[string]seen
}

// seen is a study as it was listed last: it is read again when one of these has changed.
type seen struct {
	size  int64
	held  bool
	study report.Listed
}

func (l *lister) list() (found []report.Listed, err error) {
	name := filepath.Base(layout.Study("").Journal())
	now := map[string]seen{}
	root := filepath.Clean(layout.Direct(l.folder)) + string(filepath.Separator) // so that a link to a folder is one, too
	if _, err := os.Stat(root); err != nil {
		return nil, fmt.Errorf("there is no folder %s", l.folder)
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		top := path == root
		path = filepath.Clean(path)
		skip := fs.SkipDir
		if e != nil && e.Type() == fs.ModeSymlink {
			skip = nil // of a link it would skip what lies beside it
		}
		switch {
		case err != nil && top:
			return err
		case err != nil: // not ours to read
			return fs.SkipDir
		case skip != nil && !e.IsDir():
			return nil
		case strings.HasPrefix(e.Name(), ".") && !top:
			return skip
		}
		info, err := os.Stat(filepath.Join(path, name))
		if errors.Is(err, fs.ErrPermission) && strings.HasSuffix(path, ".study") { // by its name it is one
			found = append(found, listed(path, false, err))
			return skip
		}
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		held, err := journal.InUse(layout.Of(path).Journal())
		s, known := l.seen[path]
		if !known || s.size != info.Size() || s.held != held || err != nil {
			s = seen{info.Size(), held, listed(path, held, err)}
		}
		now[path] = s
		found = append(found, s.study)
		return skip
	})
	l.seen = now
	return found, err
}

func listed(dir string, held bool, err error) report.Listed {
	st, loadErr := study.Load(dir)
	if err = cmp.Or(loadErr, err); err != nil {
		return report.Listed{Dir: dir, State: "unreadable", Error: err.Error()}
	}
	return listing(dir, st, held)
}

func listing(dir string, st *study.State, held bool) report.Listed {
	f := report.FiguresOf(st, held)
	standing, _, _ := strings.Cut(st.Standing(held), ":")
	return report.Listed{Dir: dir, Study: st.Config.Name, State: standing, Finished: f.Finished, Trials: st.Config.Budget.Trials,
		Failed: f.Failed, Metric: st.Config.Objective().Name, Best: maybe(f.Best != nil && !math.IsInf(f.Value, 0), f.Value), Over: f.Best != nil && !f.Feasible, Updated: st.Updated}
}
