package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// progress shows a running study: one line for each finished trial, and on a
// terminal below them how the study stands.
type progress struct {
	cfg     *study.Config
	quiet   bool // only what goes wrong is shown
	colours bool
	layout  study.Layout
	ended   bool // an earlier session ended the study

	mu      sync.Mutex
	w       io.Writer
	pane    *pane       // nil where nothing on the terminal can change
	shown   study.State // what the pane draws, which nobody else changes
	best    study.Trial
	better  bool // the last trial to finish is the best, or on the front
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

func newProgress(w io.Writer) *progress {
	p := &progress{cfg: &study.Config{}, w: w, stop: func() {}}
	f, isFile := w.(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" {
		return p
	}
	if _, _, ok := terminalSize(f); ok {
		p.colours = os.Getenv("NO_COLOR") == ""
		p.pane = &pane{w: w, size: func() (columns, rows int) {
			columns, rows, _ = terminalSize(f)
			return columns, rows / 2
		}}
	}
	return p
}

// width is that of the terminal, 0 if there is none.
func (p *progress) width() int {
	if p.pane == nil {
		return 0
	}
	columns, _ := p.pane.size()
	return columns
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
	p.layout = s.Layout()
	if b := st.Best(); b != nil {
		p.best = *b
	}
	dir := oneLine(string(s.Layout()))
	switch {
	case st.Closed != nil:
		advice := "; change its budget to go on"
		if st.Closed.Why == study.EndExhausted || st.Closed.Why == study.EndUnsafe {
			advice = ""
		}
		p.print("study %s has ended: %s%s", dir, oneLine(st.Closed.Detail), advice) // also with -q: nothing is run
	case st.Config.Budget.Trials > 0 && len(st.Order) == len(st.Trials) && len(st.Order) >= st.Config.Budget.Trials:
		p.line("study %s: %s", dir, howFar(st)) // its budget was made smaller
	case len(st.Trials) > 0:
		p.line("resuming study %s: %s", dir, howFar(st))
	default:
		p.line("study %s", dir)
	}
	if elsewhere := here(&cfg); st.Closed == nil && elsewhere != cfg.Dir {
		p.print("its trials run in %s, and not in %s: %s", oneLine(cfg.Dir), oneLine(elsewhere), shortened(oneLine(cfg.Command.String()), 80))
	}
	for _, t := range st.Trials {
		if t.Outside && !t.Hand && (!t.Done() || t.Confirming()) {
			p.print("trial %d goes on with values outside the ranges of the spec: %s", t.Number, oneLine(t.Values.String()))
		}
	}
	if p.pane == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	p.stopped.Go(func() {
		tick := time.NewTicker(paneLook)
		defer tick.Stop()
		for ctx.Err() == nil {
			p.mu.Lock()
			_ = p.pane.show(false, func(columns int) string { return liveText(&p.shown, p.layout, true, columns) })
			p.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
}

// paneLook is how often the pane is looked at for whether it should be drawn.
const paneLook = 200 * time.Millisecond

// recall follows the study as far as the pane shows it.
func (p *progress) recall(r study.Record) {
	if p.pane != nil {
		_ = p.shown.Apply(r) // the session's state took it a moment ago
	}
}

// end takes the pane away, and says why the study has ended now unless that
// is plain.
func (p *progress) end(s *session.Study) {
	p.stop()
	p.stopped.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pane != nil {
		fmt.Fprint(p.w, p.pane.wiped())
		p.pane = nil
	}
	if c := s.State().Closed; c != nil && !p.ended && !slices.Contains([]study.Ending{study.EndTrials, study.EndGuard, study.EndUnsafe}, c.Why) {
		p.line("ended: %s", oneLine(c.Detail))
	}
}

// say prints a line about the whole study.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print("%s", text)
}

// update is the study's observer.
func (p *progress) update(u study.Update) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recall(u.Record)
	if u.Past {
		return
	}
	p.best, p.better = u.Best, u.Better
	switch e := u.Record.Event.(type) {
	case study.Started:
		if e.Rejoined {
			p.line("%s  rejoined: it has gone on running", p.number(e.Trial))
		}
	case study.Ended:
		p.attempt(e)
	case study.Confirmed:
		p.confirmed(e)
	case study.Finished:
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
			p.line("setup took %s%s", took(time.Duration(e.Seconds*float64(time.Second))), p.setupWords(e.Attempt))
		}
	}
}

// setupWords are the last line that the setup wrote to its stderr, as of what it did without.
func (p *progress) setupWords(attempt int) string {
	_, text := endOfOutput(p.layout, p.layout.Attempt(study.AttemptID{Attempt: attempt}), p.cfg, runner.StderrName)
	if text == "" {
		return ""
	}
	return ": " + oneLine(text[strings.LastIndexByte(text, '\n')+1:])
}

func (p *progress) number(trial int) string {
	if n := p.cfg.Budget.Trials; n > 0 && trial <= n {
		width := len(fmt.Sprint(n))
		return fmt.Sprintf("%*d/%d", width, trial, n)
	}
	return fmt.Sprintf("%4d", trial)
}

// attempt prints a line for an attempt that was not the trial's last.
func (p *progress) attempt(e study.Ended) {
	what := "again"
	if e.Failure != nil {
		what = oneLine(e.Failure.Text) + "; it will be run again"
	} else if e.Metrics != nil {
		what = "repeat: " + strings.TrimSpace(p.values(e.Metrics))
	}
	p.line("%s  attempt %d: %s", p.number(e.Trial), e.Attempt, what)
	p.leftovers(e.Trial, e.Leftovers)
}

// values are those of the objectives, one below the other from line to line.
func (p *progress) values(m interface {
	Get(name string) (v float64, ok bool)
}) string {
	var values []string
	for _, o := range p.cfg.Objectives() {
		text := "-"
		if v, ok := m.Get(o.Name); ok {
			text = fitted(v)
		}
		values = append(values, fmt.Sprintf("%*s", valueWidth, text))
	}
	return strings.Join(values, "  ")
}

// confirmed prints a line for a repeat of one of the best trials.
func (p *progress) confirmed(e study.Confirmed) {
	result := "failed"
	if e.Metrics != nil {
		result = p.values(e.Metrics)
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

// line prints a line above the pane, unless it is to be quiet.
func (p *progress) line(format string, args ...any) {
	if !p.quiet {
		p.print(format, args...)
	}
}

func (p *progress) print(format string, args ...any) {
	text := fmt.Sprintf(format+"\n", args...)
	if p.pane == nil {
		fmt.Fprint(p.w, text)
		return
	}
	_ = p.pane.draw(text)
}
