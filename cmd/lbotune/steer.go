package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/journal"
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
	// Live says that a running lbotune has taken it.
	Live bool `json:"live"`
}

// steer has a request fulfilled, at once where nobody works on the study that arg names,
// else by whoever does, and says so. The request follows from the state of the study. With
// a config, a study that is not there is begun, and the ranges of one that rests are
// taken over.
func steer(ctx context.Context, g *global, cfg *study.Config, arg string,
	ask func(*study.State) (study.Request, error)) error {
	c, err := request(ctx, cfg, arg, ask)
	if err != nil {
		return hintStudy(arg, err)
	}
	if g.json {
		return printLine(g.out, changeJSON{c.Action, c.Trial, c.Values, c.Text, c.Trials, time.Duration(c.Time).Seconds(), c.Workers, c.Rerun, c.live})
	}
	_, err = fmt.Fprintln(g.err, c.said())
	return err
}

// said is what people are told of the change.
func (c changed) said() string {
	text := ""
	switch c.Action {
	case study.ActionEnqueue:
		text = "enqueued " + oneLine(c.Values.String())
		if end := c.state.Closed; end != nil {
			text += "; the study has ended, " + oneLine(end.Detail) + ": raise its budget to have them tried"
		}
	case study.ActionExclude:
		text = fmt.Sprintf("excluded trial %d", c.Trial)
	case study.ActionInclude:
		text = fmt.Sprintf("trial %d counts again", c.Trial)
	case study.ActionRerun:
		text = count(len(c.Rerun), "failure") + " to be run again"
	case study.ActionNote:
		text = "noted"
	case study.ActionAdjust:
		text = "the study goes on with " + extent(&c.state.Config)
	}
	if c.live {
		text += "; the lbotune that works on the study has taken it"
	}
	return text
}

func request(ctx context.Context, cfg *study.Config, arg string, ask func(*study.State) (study.Request, error)) (c changed, err error) {
	dir, err := studyDir(arg)
	if err != nil {
		return c, err
	}
	opts := session.Options{Dir: dir, Program: programVersion()}
	err = session.Edit(cfg, opts, func(s *session.Study) error {
		c.state = s.State()
		if c.Request, err = ask(c.state); err != nil {
			return err
		}
		if err := s.Do(c.Request); err != nil {
			return asRefusal(err)
		}
		return nil
	})
	if !errors.Is(err, journal.ErrLocked) {
		return c, err
	}
	st, l, err := load(arg)
	if err != nil {
		return c, err
	}
	r, err := ask(st)
	if err != nil {
		return c, err
	}
	if _, err := st.Event(r); err != nil {
		return c, usage(err)
	}
	if r, err = r.Submit(l); err != nil {
		return c, err
	}
	st, err = awaitAnswer(ctx, l, r)
	return changed{r, st, true}, err
}

// asRefusal makes an error that is no journal's a mistake of the command line.
func asRefusal(err error) error {
	if isA[*journal.WriteError](err) {
		return err
	}
	return usage(err)
}

const (
	// answerLook is the pause between two looks for the answer to a request, and
	// answerPatience how long that goes on: a proposal may have to be awaited first.
	answerLook     = 50 * time.Millisecond
	answerPatience = 2 * time.Minute
)

// awaitAnswer returns once a request is fulfilled, with the state of the study then. If
// whoever should have done so has gone, it does so itself.
func awaitAnswer(ctx context.Context, l study.Layout, r study.Request) (*study.State, error) {
	for begun := time.Now(); r.Waits(l); {
		if held, err := journal.InUse(l.Journal()); err != nil {
			return nil, err
		} else if !held {
			err := session.Edit(nil, session.Options{Dir: string(l), Program: programVersion()}, func(*session.Study) error { return nil })
			if err != nil && !errors.Is(err, journal.ErrLocked) {
				return nil, err
			}
			continue
		}
		if time.Since(begun) > answerPatience {
			return nil, hinted(&marked{fmt.Errorf("the lbotune that works on the study has not answered for %v", answerPatience), journal.ErrLocked},
				"the request stays in "+l.Requests()+", and it or the next run takes it")
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(answerLook):
		}
	}
	st, _, err := study.Load(string(l))
	if err != nil {
		return nil, err
	}
	switch refused, known := st.Answered(r.ID); {
	case !known:
		return nil, fmt.Errorf("somebody has removed the request %s before it was taken", r.ID)
	case refused != "":
		return nil, usagef("%s", refused)
	}
	return st, nil
}

// adjustment are the flags that change a study's budget and workers.
type adjustment struct {
	workers workersValue
	trials  int
	time    study.Duration
	changed func(flag string) bool
}

func (a *adjustment) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.VarP(&a.workers, "workers", "w", "run `N` trials at a time; with auto, one for each slot or two processors")
	f.IntVarP(&a.trials, "trials", "n", 0, "finish `N` trials in all")
	durationFlag(f, &a.time, "time", "start no more trials once the study has run for `DURATION` in all")
	a.changed = f.Changed
}

// given reports whether there is any.
func (a *adjustment) given() bool {
	return a.changed("workers") || a.changed("trials") || a.changed("time")
}

// check refuses values that make no sense.
func (a *adjustment) check() error {
	switch {
	case a.changed("workers") && a.workers < 1 && a.workers != autoWorkers:
		return usagef("--workers: found %d; want at least 1", a.workers)
	case a.changed("trials") && a.trials < 1:
		return usagef("--trials: found %d; want at least 1", a.trials)
	case a.changed("time") && a.time <= 0:
		return usagef("--time: found %v; want a positive duration such as 2h30m", a.time)
	}
	return nil
}

// adjust asks for the adjustment of the study that arg names.
func (a *adjustment) adjust(ctx context.Context, g *global, arg string) error {
	if a.workers == autoWorkers {
		return usagef("--workers: found auto, but the study may run on another machine; want a whole number")
	}
	return steer(ctx, g, nil, arg, func(*study.State) (study.Request, error) {
		return study.Request{Action: study.ActionAdjust, Trials: a.trials, Time: a.time, Workers: int(a.workers)}, a.check()
	})
}

// extent says how much a study does, and how much of it at a time.
func extent(c *study.Config) string {
	text := ""
	if n := c.Budget.Trials; n > 0 {
		text = count(n, "trial") + " in all, "
	}
	if d := c.Budget.Time; d > 0 {
		text += "for " + d.String() + ", "
	}
	return text + count(c.Run.SlotCount(), "trial") + " at a time"
}

func newAdjust(g *global) *cobra.Command {
	var a adjustment
	cmd := &cobra.Command{
		Use:   "adjust STUDY",
		Short: "Change the budget and the workers of a study, also while it runs",
		Long: `Adjust changes how many trials a study runs, for how long, and how many at a time.
The lbotune that works on the study, on whatever host, goes on with that at once;
with fewer workers the running trials come to their end. If none does, resume goes
on with it, while run takes what its spec and its flags say.`,
		Example: "  lbotune adjust spec.study --trials 100 --workers 4",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !a.given() {
				return hinted(usagef("there is nothing to change"), "usage: lbotune adjust STUDY [--trials N] [--time DURATION] [--workers N]")
			}
			return a.adjust(cmd.Context(), g, args[0])
		},
	}
	a.flags(cmd)
	return cmd
}
