package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/report"
	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// watch draws a study's status anew, in the same place, until the study has ended or the
// person ends it.
func watch(ctx context.Context, g *global, name string) error {
	if _, _, ok := g.terminal(); !ok || g.json {
		return usagef("--watch draws on a terminal; for a program there is lbotune journal follow")
	}
	dir, err := studyDir(name)
	if err != nil {
		return err
	}
	l := study.LayoutOf(dir)
	p := pane{w: g.out, size: func() (columns, rows int) { columns, rows, _ = g.terminal(); return columns, rows - 1 }}
	err = study.Follow(ctx, dir, nil, func(st *study.State) error {
		held, err := journal.InUse(l.Journal())
		if err != nil {
			return err
		}
		held = held && !st.Ended()
		return p.show(st.Ended(), func(columns int) string {
			return headText(st, l, held) + liveText(st, l, held, columns) + notesText(st)
		})
	})
	if len(p.lines) > 0 {
		if _, err := fmt.Fprintln(g.out); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return hintStudy(name, err)
}

// pane is the end of a terminal, where a text that changes is drawn in the same place.
type pane struct {
	w     io.Writer
	size  func() (columns, rows int) // that the text may have; columns are 0 where they are not known
	lines []string                   // that stand there, the cursor after the last

	text          []string
	columns, rows int
	cost          time.Duration // of composing it
	composed      time.Time
	drawn         time.Time
}

const (
	// panePause is the least time between two texts, and paneRest that between two drawings
	// when much is printed above. Composing a text reads the trials' outputs, and the pause
	// after it is at least paneIdle times as long as that took.
	panePause, paneRest, paneIdle = 500 * time.Millisecond, 20 * time.Millisecond, 50
)

// show draws what compose says once it is time for that, or the size has changed, or at once.
func (p *pane) show(now bool, compose func(columns int) string) error {
	begun := time.Now()
	columns, rows := p.size()
	switch {
	case now, columns != p.columns, rows != p.rows, begun.Sub(p.composed) >= max(panePause, paneIdle*p.cost):
		p.text = window(compose(columns), columns, rows)
		p.columns, p.rows, p.composed, p.cost = columns, rows, begun, time.Since(begun)
	case p.lines != nil:
		return nil
	}
	return p.draw("")
}

// draw prints a text, and the pane below it unless it has just been drawn.
func (p *pane) draw(above string) error {
	text := p.wiped() + above
	if now := time.Now(); above == "" || now.Sub(p.drawn) >= paneRest {
		p.lines, p.drawn = p.text, now
		text += strings.Join(p.lines, "\n")
	}
	_, err := io.WriteString(p.w, text)
	return err
}

// wiped takes the pane away. In a terminal that has become narrower a line may stand on
// several.
func (p *pane) wiped() string {
	if p.lines == nil {
		return ""
	}
	columns, _ := p.size()
	up := -1
	for _, line := range p.lines {
		up++
		if n := utf8.RuneCountInString(line); columns > 0 && n > 0 {
			up += (n - 1) / columns
		}
	}
	p.lines = nil
	if up > 0 {
		return fmt.Sprintf("\r\x1b[%dA\x1b[J", up)
	}
	return "\r\x1b[J"
}

// window is what of a text has room in so many columns, less one for the cursor, and rows.
func window(text string, columns, rows int) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if rows > 0 {
		lines = lines[:min(len(lines), rows)]
	}
	for i, line := range lines {
		if letters := []rune(line); columns > 1 && len(letters) >= columns {
			lines[i] = string(letters[:columns-1])
		}
	}
	return lines
}

// liveText is what run and status --watch draw of a study under way: a bar of how much of the
// budget is spent, of its trials or its time, the best value so far from trial to trial, and
// how the study stands.
func liveText(st *study.State, l study.Layout, held bool, columns int) string {
	full, empty, levels := "█", "░", []rune("▁▂▃▄▅▆▇█")
	if !unicodeLocale() {
		full, empty, levels = "#", ".", []rune("_.-:=+*#")
	}
	width := min(max(cmp.Or(columns, 80)/2, 20), 80)
	s := rows{width: 10}
	b, share, of := st.Config.Budget, 0.0, ""
	if b.Trials > 0 {
		share, of = min(float64(len(st.Order))/float64(b.Trials), 1), count(b.Trials, "trial")
	}
	if elapsed := report.FiguresOf(st, held).Elapsed; b.Time > 0 && float64(elapsed)/float64(b.Time) >= share {
		share, of = min(float64(elapsed)/float64(b.Time), 1), took(time.Duration(b.Time))
	}
	if of != "" {
		done := int(share * float64(width))
		s.add("progress", "%s%s %.0f %% of %s", strings.Repeat(full, done), strings.Repeat(empty, width-done), math.Floor(100*share), of)
	}
	course := bestSoFar(st)
	if st.Config.Several() {
		course = st.Hypervolumes()
	}
	if n := len(course); n > 1 {
		s.add("course", "%s from %s to %s", sparkline(course, width, levels), short(course[0]), short(course[n-1]))
	}
	return s.String() + standingText(st, l, held, mostRunning)
}

// mostRunning is how many of the trials that run are drawn, each with what it has printed.
const mostRunning = 8

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
	if !isFile {
		return 0, 0, false
	}
	return terminalSize(f)
}

// terminalSize returns the size of a terminal, 0 where it is not known, and whether f is one.
func terminalSize(f *os.File) (columns, rows int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}

// unicodeLocale reports whether the terminal takes more than ASCII.
func unicodeLocale() bool {
	return strings.Contains(strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))), "utf")
}
