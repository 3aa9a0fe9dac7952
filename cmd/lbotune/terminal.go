package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/study"
)

// meterDelay is how long work may be silent, meterPause the time between two looks at it.
const meterDelay, meterPause = time.Second, 200 * time.Millisecond

// A meter shows how far long work is: a line on a terminal, which goes when the work has ended.
type meter struct {
	what      string
	quit      func() // nil where nothing is shown
	done, all atomic.Int64
}

// meter begins a meter on standard error, which shows nothing where that is no terminal.
func (g *global) meter(what string) *meter {
	m := &meter{what: what}
	if !isTerminal(g.err) || inBackground(g.err) {
		return m
	}
	stop := make(chan struct{})
	var over sync.WaitGroup
	m.quit = func() { close(stop); over.Wait(); m.quit = nil }
	over.Go(func() {
		begun, wait := time.Now(), meterDelay
		for {
			select {
			case <-stop:
				if wait == meterPause { // a line stands there
					fmt.Fprint(g.err, "\r\x1b[K")
				}
				return
			case <-time.After(wait):
			}
			wait = meterPause
			fmt.Fprintf(g.err, "\r\x1b[K%s (%s)", m.text(), seconds(time.Since(begun)))
		}
	})
	return m
}

// isTerminal reports whether what is written can be seen, and changed, by a person.
func isTerminal(w io.Writer) bool {
	_, _, ok := sizeOf(w)
	return ok && os.Getenv("TERM") != "dumb"
}

// at says how far the work is; all is 0 where that is not known.
func (m *meter) at(done, all int) {
	m.done.Store(int64(done))
	m.all.Store(int64(all))
}

// read is a visit of study.Load.
func (m *meter) read(before *study.State, _ study.Record) error {
	n, all := len(before.Trials), before.Config.Budget.Trials
	m.at(n, either(all >= n, all, 0))
	return nil
}

func (m *meter) text() string {
	done, all := int(m.done.Load()), int(m.all.Load())
	far := when(all > 0, ": %d of %s", done, count(all, "trial"))
	return m.what + far + when(all == 0 && done > 0, ": %s", count(done, "trial"))
}

func (m *meter) end() {
	if m.quit != nil {
		m.quit()
	}
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

// panePause is the least time between two texts, and paneRest that between two drawings
// when much is printed above. Composing a text reads the trials' outputs, and the pause
// after it is at least paneIdle times as long as that took.
const panePause, paneRest, paneIdle = 500 * time.Millisecond, 20 * time.Millisecond, 50

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

// draw prints a text, and the pane below it unless it has just been drawn, or another job has the
// terminal.
func (p *pane) draw(above string) error {
	text := p.wiped() + above
	if now := time.Now(); (above == "" || now.Sub(p.drawn) >= paneRest) && !inBackground(p.w) {
		p.lines, p.drawn = p.text, now
		text += strings.Join(p.lines, "\n")
	}
	_, err := io.WriteString(p.w, text)
	return err
}

// wiped takes the pane away, whose lines stand on several in a terminal become narrower, unless another
// job has the terminal and writes below it.
func (p *pane) wiped() string {
	if p.lines == nil || inBackground(p.w) {
		p.lines = nil
		return ""
	}
	columns, _ := p.size()
	up := -1
	for _, line := range p.lines {
		up++
		if n := widthOf(line); columns > 0 && n > 0 {
			up += (n - 1) / columns
		}
	}
	p.lines = nil
	return "\r" + when(up > 0, "\x1b[%dA", up) + "\x1b[J"
}

// window is what of a text has room in so many columns, less one for the cursor, and rows; the last
// of these says how many lines have none.
func window(text string, columns, rows int) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if more := len(lines) - rows; rows > 0 && more > 0 {
		lines = append(lines[:rows-1], fmt.Sprintf("%10s %d more", "", more+1))
	}
	for i, line := range lines {
		width := 0
		full := func(r rune) bool { width += columnsOf(r); return columns > 1 && width >= columns }
		if at := strings.IndexFunc(line, full); at >= 0 {
			lines[i] = line[:at]
		}
	}
	return lines
}

// widthOf is how many columns of a terminal a printable text takes, columnsOf a letter: about what
// wcwidth(3) says.
func widthOf(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	switch {
	case r < 0x300 || 0xff61 <= r && r <= 0xffdc: // halfwidth forms
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
		0x3000 <= r && r <= 0x303e, 0xff01 <= r && r <= 0xffe6, 0x1f300 <= r && r <= 0x1faff:
		return 2
	}
	return 1
}

// sizeOf returns the size of a terminal, 0 where it is not known, and whether w is one.
func sizeOf(w io.Writer) (columns, rows int, ok bool) {
	size, err := unix.IoctlGetWinsize(descriptor(w), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}

// inBackground reports whether another job than this one has the terminal: what is erased there may
// be somebody else's.
func inBackground(w io.Writer) bool {
	job, err := unix.IoctlGetInt(descriptor(w), unix.TIOCGPGRP)
	return err == nil && job > 0 && job != unix.Getpgrp() // 0 is a job that cannot be seen from here
}

func descriptor(w io.Writer) int {
	if c, checked := w.(*checkedWriter); checked {
		w = c.w
	}
	if f, isFile := w.(*os.File); isFile {
		return int(f.Fd())
	}
	return -1
}

// unicodeLocale reports whether the terminal takes more than ASCII.
func unicodeLocale() bool {
	return strings.Contains(strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))), "utf")
}
