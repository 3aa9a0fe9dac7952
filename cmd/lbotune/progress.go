package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// progress shows a running study: a line for each trial, and on a terminal how it stands.
type progress struct {
	cfg     *study.Config
	quiet   bool // only what goes wrong is shown
	colours bool
	layout  layout.Study
	ended   bool // an earlier session ended the study

	mu      sync.Mutex
	w       io.Writer
	pane    *pane // nil where nothing on the terminal can change
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

func newProgress(w io.Writer) *progress {
	p := &progress{cfg: &study.Config{}, w: w, stop: func() {}}
	if isTerminal(w) {
		p.colours = os.Getenv("NO_COLOR") == ""
		p.pane = &pane{w: w, size: func() (columns, rows int) {
			columns, rows, _ = sizeOf(w)
			return columns, rows / 2
		}}
	}
	return p
}

// howFar says how many of a study's trials have finished and how many have not.
func howFar(st *study.State) string {
	done, pending := len(st.Order), len(st.Trials)-len(st.Order)
	running := either(pending > 0, fmt.Sprintf("%d unfinished", pending), "none running")
	all := st.Config.Budget.Trials
	of := either(all >= done && all > 0, fmt.Sprintf("%d of %s", done, count(all, "trial")), count(done, "trial"))
	return of + " finished, " + running
}

func (p *progress) begin(s *session.Study) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := s.State()
	cfg := st.Config
	p.cfg, p.layout, p.ended = &cfg, s.Layout(), st.Closed != nil
	dir := oneLine(string(p.layout))
	switch {
	case st.Closed != nil:
		final := st.Closed.Why == study.EndExhausted || st.Closed.Why == study.EndUnsafe
		p.print("study %s has ended: %s%s", dir, oneLine(st.Closed.Detail), when(!final, "; change its budget to go on")) // also with -q: nothing is run
	case st.Config.Budget.Trials > 0 && len(st.Order) == len(st.Trials) && len(st.Order) >= st.Config.Budget.Trials:
		p.line("study %s: %s", dir, howFar(st)) // its budget was made smaller
	case len(st.Trials) > 0:
		p.line("resuming study %s: %s", dir, howFar(st))
	default:
		p.line("study %s", dir)
	}
	if more := beyondTime(&cfg); more != "" && st.Closed == nil {
		p.line("%s", more)
	}
	if elsewhere := here(&cfg); st.Closed == nil && elsewhere != cfg.Dir {
		p.print("its trials run in %s, and not in %s: %s", oneLine(cfg.Dir), oneLine(elsewhere), shortened(oneLine(cfg.Command.String()), 80))
	}
	for _, t := range st.Trials {
		if t.Outside && !t.Hand && (!t.Done() || t.Confirming()) {
			p.print("trial %d goes on with values outside the ranges of the spec: %s", t.Number, oneLine(t.Values().String()))
		}
	}
	if p.pane == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	p.stopped.Go(func() {
		_ = study.Follow(ctx, string(p.layout), nil, func(st *study.State) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.pane.show(false, func(columns int) string { return liveText(st, p.layout, true, columns) })
		})
	})
}

// beyondTime says what a study still does when its time is up, beside ending the trials that run.
func beyondTime(c *study.Config) string {
	var more []string
	if n := c.Run.Repeats; n > 1 {
		more = append(more, fmt.Sprintf("each trial that has begun makes all of its %d repeats", n))
	}
	if n := c.Run.Confirm; n > 0 {
		of := either(c.Several(), "trials on the front", fmt.Sprintf("%d best trials", study.Contenders)+
			when(slices.ContainsFunc(c.Params, func(p spaces.Param) bool { return p.Default.IsValid() }), ", and that with today's values,"))
		more = append(more, fmt.Sprintf("each of the %s runs %s more", of, count(n, "time")))
	}
	if c.Budget.Time == 0 || c.Budget.TimeHard > 0 || len(more) == 0 {
		return ""
	}
	return fmt.Sprintf("when its time, %v, is up, %s; time_hard would end that", c.Budget.Time, strings.Join(more, ", and "))
}

// end takes the pane away, and says why the study has ended now unless that is plain.
func (p *progress) end(s *session.Study) {
	p.stop()
	p.stopped.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pane != nil {
		fmt.Fprint(p.w, p.pane.wiped())
		p.pane = nil
	}
	st := s.State()
	if c := st.Closed; c != nil && !p.ended && (c.Why == study.EndTrials && len(st.Queue) > 0 || !slices.Contains([]study.Ending{study.EndTrials, study.EndGuard, study.EndUnsafe}, c.Why)) {
		p.line("ended: %s", oneLine(c.Detail))
	}
}

func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print("%s", text)
}

func (p *progress) update(u study.Update) {
	if u.Past {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := u.Record.Event.(type) {
	case study.Started:
		if e.Rejoined {
			p.line("%s  rejoined: it has gone on running", p.number(e.Trial))
		}
	case study.Ended:
		what := "again"
		if e.Failure != nil {
			what = oneLine(e.Failure.Text) + "; it will be run again"
		} else if e.Metrics != nil {
			what = "repeat: " + strings.TrimSpace(p.values(e.Metrics))
		}
		p.line("%s  attempt %d: %s", p.number(e.Trial), e.Attempt, what)
		p.leftovers(e.Trial, e.Leftovers)
	case study.Confirmed:
		result := either(e.Metrics != nil, p.values(e.Metrics), "failed")
		why := when(e.Failure != nil, ": %s", oneLine(e.Failure.String()))
		of := either(u.Trial.Origin == optimizer.OriginDefault, "today's values", "one of the best")
		p.line("%s  %10s again %5s  a repeat of %s%s", p.number(e.Trial), result, took(secondsOf(e.Seconds)), of, why)
	case study.Finished:
		p.trial(u)
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
			// The last line of its stderr says such as what it did without.
			last := lastLine(p.layout, layout.AttemptID{Attempt: e.Attempt}, p.cfg)
			p.line("setup took %s%s", took(secondsOf(e.Seconds)), when(last != "", ": %s", last))
		}
	}
}

func (p *progress) number(trial int) string {
	if n := p.cfg.Budget.Trials; n > 0 && trial <= n {
		return fmt.Sprintf("%*d/%d", len(fmt.Sprint(n)), trial, n)
	}
	return fmt.Sprintf("%4d", trial)
}

// values are those of the objectives, one below the other from line to line.
func (p *progress) values(m interface {
	Get(name string) (v float64, ok bool)
}) string {
	return strings.Join(lists.Map(p.cfg.Objectives(), func(o study.Metric) string {
		return fmt.Sprintf("%*s", valueWidth, textOr("-", fitted)(m.Get(o.Name)))
	}), "  ")
}

func (p *progress) leftovers(trial int, which string) {
	if which != "" {
		p.line("%s  left processes running, which were ended: %s", p.number(trial), oneLine(which))
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

// Colours of a terminal, as SGR parameters.
const green, red = "32", "31"

// valueWidth is how wide a value may be in the line of a trial.
const valueWidth = 10

// fitted is a number in valueWidth characters, with as many digits as these hold.
func fitted(x float64) string {
	text := short(x)
	for digits := 6; len(text) > valueWidth && digits > 1; digits-- {
		text = strconv.FormatFloat(x, 'g', digits, 64)
	}
	return text
}

// trial prints the line of the trial that has finished.
func (p *progress) trial(u study.Update) {
	t := u.Trial
	value, mark, colour, why := p.values(t.Metrics), "", "", oneLine(t.Failure.String())
	switch broken := p.cfg.Broken(t.Metrics); {
	case t.Status == optimizer.Failed:
		value, colour = "failed", red
		words := lastWords(p.layout, p.cfg, &t)
		why += when(words != "", ": %s", words)
	case t.Status == optimizer.Pruned:
		mark = "cut"
	case t.Succeeded() && len(broken) > 0:
		mark, why = "over", oneLine(strings.Join(broken, "; "))
	case p.cfg.Several() && u.Better && t.Succeeded():
		mark, colour = "good", green
	case t.Number == u.Best.Number && !p.cfg.Several():
		mark, colour = "best", green
	}
	head := fmt.Sprintf("%s  %*s %-4s %6s  ", p.number(t.Number), valueWidth, value, mark, took(t.Took))
	width := 0
	if p.pane != nil {
		width, _ = p.pane.size()
	}
	text := folded(head+shortValues(t.Values())+when(why != "", ": %s", why), utf8.RuneCountInString(head), width)
	if p.colours && colour != "" {
		marked := fmt.Sprintf("%*s %-4s", valueWidth, value, mark)
		text = strings.Replace(text, marked, "\x1b["+colour+"m"+marked+"\x1b[0m", 1)
	}
	p.line("%s", text)
}

// folded breaks text between words into lines of the width; those after the first are
// indented. What has no blank is broken where the line ends.
func folded(text string, indent, width int) string {
	if width-indent < 24 { // too narrow to read
		indent = 4
	}
	if width <= indent {
		return text
	}
	var lines []string
	runes, room, first := []rune(text), width, indent // first is where the line may be broken, at the earliest
	for len(runes) > room {
		end := room
		for end > first && runes[end] != ' ' {
			end--
		}
		if end == first {
			end = room
		}
		lines = append(lines, strings.TrimRight(string(runes[:end]), " "))
		runes, room, first = []rune(strings.TrimLeft(string(runes[end:]), " ")), width-indent, 0
	}
	return strings.Join(append(lines, string(runes)), "\n"+strings.Repeat(" ", indent))
}

// lastWords is the last line that a trial which ended badly by itself has printed on
// standard error: most often it says why.
func lastWords(l layout.Study, c *study.Config, t *study.Trial) string {
	if t.Failure == nil || t.Hand || t.Failure.Kind != study.FailExit && t.Failure.Kind != study.FailSignal {
		return ""
	}
	return shortened(lastLine(l, layout.AttemptID{Trial: t.Number, Attempt: t.Attempt}, c), 120)
}

// lastLine is the last line that an attempt has printed on standard error.
func lastLine(l layout.Study, id layout.AttemptID, c *study.Config) string {
	_, text := endOfOutput(l, l.Attempt(id), c, 4<<10, runner.StderrName)
	text = strings.TrimSpace(text)
	return oneLine(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
}
