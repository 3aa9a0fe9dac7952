package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// progress shows a running study: one line for each finished trial, and on a
// terminal a line at the bottom that tells how far the study is.
type progress struct {
	cfg     *study.Config
	live    bool // the terminal can show a line that changes
	quiet   bool // only what goes wrong is shown
	colours bool
	layout  study.Layout
	ended   bool // an earlier session ended the study

	mu       sync.Mutex
	w        io.Writer
	shown    bool // the live line stands on the terminal
	began    time.Time
	before   int           // trials that earlier sessions finished
	spent    time.Duration // by them
	finished int
	proposed int
	best     study.Trial
	better   bool // the last trial to finish is the best, or on the front
	failed   int
	cut      int // stopped early
	running  map[int]bool
	stop     chan struct{}
	stopped  sync.WaitGroup
}

func newProgress(w io.Writer) *progress {
	p := &progress{cfg: &study.Config{}, w: w, running: map[int]bool{}, stop: make(chan struct{})}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		p.live, p.colours = true, os.Getenv("NO_COLOR") == ""
	}
	return p
}

// quieten has only what people ask for shown, and what goes wrong.
func (p *progress) quieten() { p.quiet, p.live = true, false }

// width is that of the terminal, 0 if there is none.
func (p *progress) width() int {
	if !p.live {
		return 0
	}
	width, _, err := term.GetSize(int(p.w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// howFar says how many of a study's trials have finished and how many have not.
func howFar(st *study.State) string {
	done, running := len(st.Order), "none running"
	if n := len(st.Trials) - done; n > 0 {
		running = fmt.Sprintf("%d unfinished", n)
	}
	if all := st.Config.Budget.Trials; all >= done && all > 0 {
		return fmt.Sprintf("%d of %s finished, %s", done, count(all, "trial"), running)
	}
	return fmt.Sprintf("%s finished, %s", count(done, "trial"), running)
}

// begin shows where the study stands.
func (p *progress) begin(s *session.Study) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := s.State()
	cfg := st.Config
	p.cfg = &cfg
	p.ended = st.Closed != nil
	p.began = time.Now()
	p.before, p.spent, p.finished = len(st.Order), st.Elapsed, len(st.Order)
	p.layout = s.Layout()
	p.failed, p.cut = st.Count(optimizer.Failed), st.Count(optimizer.Pruned)
	if b := st.Best(); b != nil {
		p.best = *b
	}
	dir := oneLine(string(s.Layout()))
	switch {
	case st.Closed != nil:
		advice := "; change its budget to go on"
		if st.Closed.Why == study.EndExhausted {
			advice = ""
		}
		p.line("study %s has ended: %s%s", dir, oneLine(st.Closed.Detail), advice)
	case len(st.Trials) > 0:
		p.line("resuming study %s: %s", dir, howFar(st))
	default:
		p.line("study %s", dir)
	}
	if elsewhere := here(&cfg); st.Closed == nil && elsewhere != cfg.Dir {
		p.line("its trials run in %s, and not in %s: %s", oneLine(cfg.Dir), oneLine(elsewhere), shortened(oneLine(cfg.Command.String()), 80))
	}
	if !p.live {
		return
	}
	p.stopped.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.mu.Lock()
				p.draw()
				p.mu.Unlock()
			case <-p.stop:
				return
			}
		}
	})
}

// end takes the live line away, and says why the study has ended now unless that
// is plain.
func (p *progress) end(s *session.Study) {
	close(p.stop)
	p.stopped.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	if c := s.State().Closed; c != nil && !p.ended && c.Why != study.EndTrials && c.Why != study.EndGuard {
		p.line("ended: %s", oneLine(c.Detail))
	}
}

// say prints a line about the whole study.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print("%s", text)
	p.draw()
}

// update is the study's observer.
func (p *progress) update(u study.Update) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished, p.proposed, p.best, p.better = u.Finished, u.Proposed, u.Best, u.Better
	switch e := u.Record.Event.(type) {
	case study.Started:
		p.running[e.Trial] = true
		if e.Rejoined {
			p.line("%s  rejoined: it has gone on running", p.number(e.Trial))
		}
	case study.Ended:
		delete(p.running, e.Trial)
		p.attempt(e)
	case study.Confirmed:
		delete(p.running, e.Trial)
		p.confirmed(e)
	case study.Finished:
		delete(p.running, e.Trial)
		p.count(e.Status)
		p.trial(u.Trial)
		p.leftovers(e.Trial, e.Leftovers)
	case study.Enqueued:
		p.line("enqueued %s", shortValues(e.Values))
	case study.Excluded:
		p.line("%s  excluded", p.number(e.Trial))
	case study.Included:
		p.line("%s  counts again", p.number(e.Trial))
	case study.ConfigChanged:
		p.cfg = &e.Config
		if e.Request != "" {
			p.line("the study goes on with %s", extent(p.cfg))
		}
	case study.SetupEnded:
		if e.Failure == nil {
			p.line("setup took %s", took(time.Duration(e.Seconds*float64(time.Second))))
		}
	}
	p.draw()
}

func (p *progress) number(trial int) string {
	if n := p.cfg.Budget.Trials; n > 0 && trial <= n {
		width := len(fmt.Sprint(n))
		return fmt.Sprintf("%*d/%d", width, trial, n)
	}
	return fmt.Sprintf("%4d", trial)
}

// count notes how a trial has ended.
func (p *progress) count(status optimizer.Status) {
	switch status {
	case optimizer.Failed:
		p.failed++
	case optimizer.Pruned:
		p.cut++
	}
}

// attempt prints a line for an attempt that was not the trial's last.
func (p *progress) attempt(e study.Ended) {
	what := "again"
	if e.Failure != nil {
		what = oneLine(e.Failure.Text) + "; it will be run again"
	} else if v, ok := e.Metrics.Get(p.cfg.Objective().Name); ok {
		what = "repeat: " + short(v)
	}
	p.line("%s  attempt %d: %s", p.number(e.Trial), e.Attempt, what)
	p.leftovers(e.Trial, e.Leftovers)
}

// values are those of the objectives.
func (p *progress) values(t study.Trial) string {
	var values []string
	for _, o := range p.cfg.Objectives() {
		text := "-"
		if v, ok := t.Metrics.Get(o.Name); ok {
			text = fitted(v)
		}
		values = append(values, text)
	}
	return strings.Join(values, "  ")
}

// confirmed prints a line for a repeat of one of the best trials.
func (p *progress) confirmed(e study.Confirmed) {
	result := "failed"
	if v, ok := e.Metrics.Get(p.cfg.Objective().Name); ok {
		result = short(v)
	}
	text := fmt.Sprintf("%s  %10s again %5s  a repeat of one of the best", p.number(e.Trial), result, took(time.Duration(e.Seconds*float64(time.Second))))
	if e.Failure != nil {
		text += ": " + oneLine(e.Failure.Text)
	}
	p.line("%s", text)
}

// leftovers says which processes a trial has left behind.
func (p *progress) leftovers(trial int, which string) {
	if which != "" {
		p.line("%s  left behind when it had ended, and ended too: %s", p.number(trial), oneLine(which))
	}
}

// line prints a line above the live one, unless it is to be quiet.
func (p *progress) line(format string, args ...any) {
	if !p.quiet {
		p.print(format, args...)
	}
}

func (p *progress) print(format string, args ...any) {
	p.wipe()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// wipe removes the live line.
func (p *progress) wipe() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// draw shows the live line anew.
func (p *progress) draw() {
	if !p.live || p.began.IsZero() {
		return
	}
	text, width := p.status(), p.width()
	if width > 0 && len(text) >= width {
		text = p.brief()
	}
	if width > 0 && len(text) >= width {
		text = text[:width-1]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.shown = true
}

// status is the live line: how far, how good, how long.
func (p *progress) status() string {
	text := fmt.Sprintf("%d finished", p.finished)
	budget := p.cfg.Budget
	if budget.Trials >= p.finished && budget.Trials > 0 {
		text = fmt.Sprintf("%d of %d finished (%d %%)", p.finished, budget.Trials, 100*p.finished/budget.Trials)
	}
	text += fmt.Sprintf(", %d running", len(p.running))
	if n := p.proposed - p.finished - len(p.running); n > 0 && batch(p.cfg) {
		text += fmt.Sprintf(", %d in the queue", n)
	}
	if p.failed > 0 {
		text += fmt.Sprintf(", %d failed", p.failed)
	}
	if p.cut > 0 {
		text += fmt.Sprintf(", %d stopped early", p.cut)
	}
	if p.best.Number > 0 && !p.cfg.Several() {
		text += fmt.Sprintf(", best %s (trial %d)", short(p.best.Value), p.best.Number)
		if p.cfg.Violation(p.best.Metrics) > 0 {
			text += ", over a limit"
		}
	}
	spent := time.Since(p.began)
	text += ", " + seconds(spent)
	if left := p.left(spent); left > 0 {
		text += fmt.Sprintf(", about %s left", seconds(left))
	}
	return text
}

// brief is the live line for a narrow terminal: what is lost at its end is what matters
// least.
func (p *progress) brief() string {
	text := strconv.Itoa(p.finished)
	if n := p.cfg.Budget.Trials; n >= p.finished && n > 0 {
		text += fmt.Sprintf("/%d (%d %%)", n, 100*p.finished/n)
	}
	if p.best.Number > 0 {
		text += " best " + short(p.best.Value)
	}
	if p.failed > 0 {
		text += fmt.Sprintf(", %d failed", p.failed)
	}
	if p.cut > 0 {
		text += fmt.Sprintf(", %d cut", p.cut)
	}
	spent := time.Since(p.began)
	if left := p.left(spent); left > 0 {
		text += fmt.Sprintf(", %s left", seconds(left))
	}
	return text + fmt.Sprintf(", %s spent, %d running", seconds(spent), len(p.running))
}

// left estimates how long the study will take after this session has spent some
// time, 0 if nothing is known.
func (p *progress) left(spent time.Duration) time.Duration {
	return timeLeft(p.cfg.Budget, p.finished, p.finished-p.before, spent, p.spent)
}

// timeLeft estimates how long a study will take with so many trials finished, of which
// some were done in the time spent, after what was spent before that. It is 0 if nothing
// is known.
func timeLeft(b study.Budget, finished, done int, spent, before time.Duration) time.Duration {
	var left time.Duration
	if b.Trials > finished && done > 0 {
		left = time.Duration(float64(spent) / float64(done) * float64(b.Trials-finished))
	}
	if b.Time > 0 {
		byTime := max(time.Duration(b.Time)-before-spent, 0)
		left = min(cmp.Or(left, byTime), byTime)
	}
	return left
}
