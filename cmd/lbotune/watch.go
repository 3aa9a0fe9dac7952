package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// watchPause is the time between two drawings.
const watchPause = time.Second

// watch draws a study's status anew, in the same place, until the study has ended or the
// person ends it.
func watch(ctx context.Context, g *global, name string) error {
	if _, _, ok := g.terminal(); !ok || g.json {
		return usagef("--watch draws on a terminal; for a program there is lbotune journal follow")
	}
	var st *study.State
	var l study.Layout
	read, drawn := int64(-1), 0
	for {
		// Only a journal that has grown is read again.
		if info, err := os.Stat(l.Journal()); st == nil || err != nil || info.Size() != read {
			if err == nil {
				read = info.Size()
			}
			if st, l, err = load(name); err != nil {
				return err
			}
		}
		held, err := journal.InUse(l.Journal())
		if err != nil {
			return err
		}
		columns, rows, _ := g.terminal()
		text := window(progressRows(st, unicodeLocale())+statusText(st, l, held), columns, rows)
		up := ""
		if drawn > 0 {
			up = fmt.Sprintf("\x1b[%dA", drawn)
		}
		if _, err := fmt.Fprintf(g.out, "%s\r\x1b[J%s", up, text); err != nil {
			return err
		}
		if drawn = strings.Count(text, "\n"); st.Ended() && !held {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchPause):
		}
	}
}

// window is what of a text has room in a terminal, without its last row.
func window(text string, columns, rows int) string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if rows > 1 && len(lines) >= rows {
		lines = lines[:rows-1]
	}
	var s strings.Builder
	for _, line := range lines {
		letters := []rune(strings.TrimSuffix(line, "\n"))
		if columns > 1 && len(letters) >= columns {
			letters = letters[:columns-1]
		}
		s.WriteString(string(letters) + "\n")
	}
	return s.String()
}

// progressRows are a bar of how much of the budget is spent, and the best value so far from
// trial to trial.
func progressRows(st *study.State, unicode bool) string {
	full, empty, levels := "█", "░", []rune("▁▂▃▄▅▆▇█")
	if !unicode {
		full, empty, levels = "#", ".", []rune("_.-:=+*#")
	}
	const width = 40
	var s strings.Builder
	if n := st.Config.Budget.Trials; n > 0 {
		done := min(len(st.Order), n)
		fmt.Fprintf(&s, "%-10s %s%s %d %%\n", "progress", strings.Repeat(full, width*done/n), strings.Repeat(empty, width-width*done/n), 100*done/n)
	}
	if best := bestSoFar(st); len(best) > 1 && !st.Config.Several() {
		fmt.Fprintf(&s, "%-10s %s from %s to %s\n", "course", sparkline(best, width, levels), short(best[0]), short(best[len(best)-1]))
	}
	return s.String()
}

// bestSoFar is the best value after each trial that succeeded, infeasible ones left out.
func bestSoFar(st *study.State) []float64 {
	var out []float64
	turn := st.Config.Objective().Direction.Maximized
	for _, n := range st.Order {
		t := st.Trials[n-1]
		if t.Status != optimizer.Succeeded || !t.Succeeded() || !st.Feasible(t) {
			continue
		}
		v := t.Value
		if k := len(out); k > 0 {
			v = turn(math.Max(turn(v), turn(out[k-1])))
		}
		out = append(out, v)
	}
	return out
}

// sparkline draws values in at most width characters, the last of those that share one; on
// a logarithmic scale where they are positive and span a factor of a hundred.
func sparkline(values []float64, width int, levels []rune) string {
	first, last := values[0], values[len(values)-1]
	at := func(v float64) float64 { return v }
	if math.Min(first, last) > 0 && math.Max(first, last) > 100*math.Min(first, last) {
		at = math.Log
	}
	low, span := math.Min(at(first), at(last)), cmp.Or(math.Abs(at(first)-at(last)), 1)
	n := min(len(values), width)
	out := make([]rune, n)
	for i := range out {
		v := values[(i+1)*len(values)/n-1]
		out[i] = levels[min(int((at(v)-low)/span*float64(len(levels))), len(levels)-1)]
	}
	return string(out)
}

// terminal returns the size of the terminal that results go to, if they go to one.
func (g *global) terminal() (columns, rows int, ok bool) {
	w, checked := g.out.(*checkedWriter)
	if !checked {
		return 0, 0, false
	}
	f, isFile := w.w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	columns, rows, _ = term.GetSize(int(f.Fd())) // 0 where it is not known
	return columns, rows, true
}

// unicodeLocale reports whether the terminal takes more than ASCII.
func unicodeLocale() bool {
	return strings.Contains(strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))), "utf")
}
