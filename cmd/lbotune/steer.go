package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// changed is a request that was fulfilled.
type changed struct {
	study.Request
	state *study.State // after it
	live  bool         // by another lbotune, which works on the study
}

// changeJSON is what enqueue, exclude, rerun, note and adjust print with --json.
type changeJSON struct {
	Action  study.Action  `json:"action"`
	Trial   int           `json:"trial,omitempty"`
	Params  spaces.Values `json:"params,omitempty"`
	Text    string        `json:"text,omitempty"`
	Trials  int           `json:"trials,omitempty"`
	Seconds float64       `json:"seconds,omitempty"`
	Workers int           `json:"workers,omitempty"`
	Rerun   []int         `json:"rerun,omitempty"`
	Live    bool          `json:"live"` // a running lbotune has taken it
}

// steer has a request, which follows from the study's state, fulfilled by whoever works on the
// study, or at once, and says so. With a config a study may begin, and new ranges are taken over.
func steer(ctx context.Context, g *global, cfg *study.Config, arg string,
	ask func(*study.State) (study.Request, error)) error {
	c, err := request(ctx, g, cfg, arg, ask)
	if err != nil {
		return hintStudy(arg, err)
	}
	return c.tell(g)
}

func (c changed) tell(g *global) error {
	if g.json {
		return printLine(g.out, changeJSON{c.Action, c.Trial, c.Values, c.Text, c.Trials, time.Duration(c.Time).Seconds(), c.Workers, c.Rerun, c.live})
	}
	_, err := fmt.Fprintln(g.err, c.said())
	return err
}

func (c changed) said() string {
	text := ""
	switch c.Action {
	case study.ActionEnqueue:
		text = "enqueued " + oneLine(c.Values.String())
		if end := c.state.Closed; c.state.Ended() {
			text += "; the study has ended, " + oneLine(end.Detail) + when(end.Why != study.EndUnsafe, ": change its budget to have them tried")
		}
	case study.ActionExclude:
		text = fmt.Sprintf("excluded trial %d", c.Trial)
		replaced := len(c.state.Trials[c.Trial-1].Confirms) > 0 && len(c.state.Unconfirmed()) > 0
		text += when(replaced && c.state.Closed != nil && !c.state.Ended(), "; the next run or resume confirms what takes its place")
	case study.ActionInclude:
		text = fmt.Sprintf("trial %d counts again", c.Trial)
		confirmed := slices.Contains(c.state.Unconfirmed(), c.state.Trials[c.Trial-1]) && c.state.Closed != nil && !c.state.Ended()
		text += when(confirmed, "; the next run or resume confirms it")
	case study.ActionRerun:
		text = count(len(c.Rerun), "failure") + " to be run again"
	case study.ActionNote:
		text = "noted"
	case study.ActionAdjust:
		text = "the study goes on with " + extent(&c.state.Config)
		if end := spentOf(c.state); end != nil {
			text = "the study has " + extent(&c.state.Config) + ", and nothing is left to run: " + oneLine(end.Detail)
		}
	}
	return text + when(c.live, "; the lbotune that works on the study has taken it")
}

func request(ctx context.Context, g *global, cfg *study.Config, arg string, ask func(*study.State) (study.Request, error)) (c changed, err error) {
	dir, err := g.studyDir(arg)
	if err != nil {
		return c, err
	}
	if cfg != nil && !begun(dir) { // what is refused begins nothing
		st := new(study.State)
		if err = st.Apply(study.Record{Event: study.Created{ID: "-", Config: *cfg}}); err == nil {
			_, err = ask(st)
		}
		if err != nil {
			return c, err
		}
	}
	err = session.Edit(cfg, session.Options{Dir: dir, Program: programVersion()}, func(s *session.Study) error {
		c.state = s.State()
		if c.Request, err = ask(c.state); err != nil {
			return err
		}
		return asRefusal(s.Do(c.Request))
	})
	if !errors.Is(err, journal.ErrLocked) {
		return c, err
	}
	st, l, err := load(arg)
	if err != nil {
		return c, err
	}
	if c.Request, err = ask(st); err != nil {
		return c, err
	}
	if _, err := st.Event(c.Request); err != nil {
		return c, usage(err)
	}
	if c.Request, err = inbox.Leave(l, c.Request); err == nil {
		c.state, c.live, err = awaitAnswer(ctx, l, c.Request)
	}
	return c, err
}

// asRefusal makes an error that is no journal's a mistake of the command line.
func asRefusal(err error) error {
	if err == nil || isA[*journal.WriteError](err) {
		return err
	}
	return usage(err)
}

// answerLook is the pause between two looks for the answer to a request, and
// answerPatience how long that goes on: a proposal may have to be awaited first.
const answerLook, answerPatience = 50 * time.Millisecond, 2 * time.Minute

// awaitAnswer returns once a request is fulfilled, with the state of the study then. If
// whoever should have done so has gone, it does so itself, and the request is not live.
func awaitAnswer(ctx context.Context, l layout.Study, r study.Request) (st *study.State, live bool, err error) {
	live = true
	for begun := time.Now(); live && inbox.Waits(l, r); {
		err := session.Edit(nil, session.Options{Dir: string(l), Program: programVersion()}, func(*session.Study) error { return nil })
		switch live = err != nil; {
		case !live:
			continue
		case !errors.Is(err, journal.ErrLocked):
			return nil, live, err
		case time.Since(begun) > answerPatience:
			return nil, live, hinted(&marked{fmt.Errorf("the lbotune that works on the study has not answered for %v", answerPatience), journal.ErrLocked},
				"the request stays in "+l.Requests()+", and it or the next run takes it")
		}
		select {
		case <-ctx.Done():
			return nil, live, ctx.Err()
		case <-time.After(answerLook):
		}
	}
	if st, err = study.Load(string(l)); err != nil {
		return nil, live, err
	}
	switch refused, known := st.Answered(r.ID); {
	case !known && inbox.Waits(l, r):
		return nil, live, fmt.Errorf("the request %s waits in %s, but may not be taken from there: it cannot be read, or is another user's", r.ID, l.Requests())
	case !known:
		return nil, live, fmt.Errorf("somebody has removed the request %s before it was taken", r.ID)
	case refused != "":
		return nil, live, usagef("%s", refused)
	}
	return st, live, nil
}

func newEnqueue(g *global, above *cobra.Command) {
	cmd := newCommand(above, "enqueue STUDY NAME=VALUE ...", "Queue values to be tried next",
		`Enqueue puts a configuration before the optimizer's next proposals. Parameters that
are not named get their default, or the middle of their range. STUDY may be a spec
whose study has not begun.`)
	cmd.Example = "  lbotune enqueue spec.study lr=0.01 depth=3"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := specOf(args[0])
		if err != nil {
			return err
		}
		return steer(cmd.Context(), g, cfg, args[0], enqueueing(args[1:]))
	}
}

// enqueueing asks for a trial of the values in NAME=VALUE words.
func enqueueing(words []string) func(*study.State) (study.Request, error) {
	return func(st *study.State) (study.Request, error) {
		v, err := parseValues(st.Space, words)
		if err == nil {
			v, err = st.Complete(v)
		}
		return study.Request{Action: study.ActionEnqueue, Values: v}, asRefusal(err)
	}
}

// parseValues reads NAME=VALUE words, and says of all what is wrong.
func parseValues(space *spaces.Space, words []string) (out spaces.Values, err error) {
	var errs []error
	for _, w := range words {
		name, text, ok := strings.Cut(w, "=")
		p, known := space.Lookup(name)
		_, twice := out.Get(name)
		a := spaces.Assignment{Name: name}
		switch {
		case twice:
			err = fmt.Errorf("found two values for %s", name)
		case !ok:
			err = fmt.Errorf("found %q; want NAME=VALUE", w)
		case !known:
			names := lists.Map(space.Params(), func(p spaces.Param) string { return p.Name })
			err = fmt.Errorf("there is no parameter %q; %s", name, meant(name, names, "", "the parameters are "+strings.Join(names, ", ")))
		default:
			if a.Value, err = p.Parse(text); err == nil {
				out = append(out, a)
			}
		}
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}

func newExclude(g *global, above *cobra.Command) {
	cmd := newCommand(above, "exclude STUDY N", "Take a trial's result out of the study",
		`Exclude takes the result of trial N out of the study: it can no longer be the best,
and from then on the optimizer does not see it. Its records stay, and it still
counts towards the budget. With --undo the result counts again.`)
	undo := cmd.Flags().Bool("undo", false, "undo the exclusion")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return steer(cmd.Context(), g, nil, args[0], func(st *study.State) (study.Request, error) {
			n, err := trialNumber(st, args[1])
			return study.Request{Action: either(*undo, study.ActionInclude, study.ActionExclude), Trial: n}, err
		})
	}
}

func newRerun(g *global, above *cobra.Command) {
	cmd := newCommand(above, "rerun STUDY N ... | rerun STUDY --failed", "Run failed trials again with the same values",
		`Rerun takes back the failures of trials: they count in no budget and teach the
optimizer nothing, and the trials run again as new attempts, with the same values.
The lbotune that works on the study does this, or the next one that is started.`)
	cmd.Example = "  lbotune rerun spec.study --failed"
	failed := cmd.Flags().Bool("failed", false, "rerun every failed trial that may be run again")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *failed == (len(args) > 1) {
			return usagef("found %s; want the numbers of failed trials, or --failed for all", count(len(args)-1, "trial"))
		}
		return steer(cmd.Context(), g, nil, args[0], func(st *study.State) (study.Request, error) {
			r := study.Request{Action: study.ActionRerun}
			if *failed {
				if r.Rerun = st.Failed(); len(r.Rerun) == 0 {
					return r, usagef("no trial has failed that could be run again")
				}
			}
			for _, arg := range args[1:] {
				n, err := trialNumber(st, arg)
				if err != nil {
					return r, err
				}
				r.Rerun = append(r.Rerun, n)
			}
			return r, nil
		})
	}
}

func newNote(g *global, above *cobra.Command) {
	cmd := newCommand(above, "note STUDY TEXT ...", "Attach a remark to a study or a trial",
		`Note attaches TEXT to a study or to one of its trials; status shows it. STUDY may be a
spec whose study has not begun.`)
	trial := cmd.Flags().Int("trial", 0, "the remark is about trial `N`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		note := noting(*trial, strings.Join(args[1:], " "))
		err := steer(cmd.Context(), g, nil, args[0], note)
		if *trial != 0 || !errors.Is(err, study.ErrNoStudy) {
			return err
		}
		cfg, specErr := specOf(args[0])
		if cfg == nil || specErr != nil {
			return cmp.Or(specErr, err)
		}
		return steer(cmd.Context(), g, cfg, args[0], note)
	}
}

// noting asks for a remark about a trial, or about the study.
func noting(trial int, text string) func(*study.State) (study.Request, error) {
	return func(*study.State) (r study.Request, err error) {
		if strings.TrimSpace(text) == "" {
			err = usagef("the note has no text")
		}
		return study.Request{Action: study.ActionNote, Trial: trial, Text: text}, err
	}
}
