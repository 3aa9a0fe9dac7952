package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lbotune/lbotune/internal/journal"
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

// steer has a request, which follows from the study's state, fulfilled by whoever works on the
// study, or at once, and says so. With a config a study may begin, and new ranges are taken over.
func steer(ctx context.Context, g *global, cfg *study.Config, arg string,
	ask func(*study.State) (study.Request, error)) error {
	c, err := request(ctx, cfg, arg, ask)
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
	return text + when(c.live, "; the lbotune that works on the study has taken it")
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
	if c.Request, err = c.Submit(l); err != nil {
		return c, err
	}
	c.state, c.live, err = awaitAnswer(ctx, l, c.Request)
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
func awaitAnswer(ctx context.Context, l study.Layout, r study.Request) (st *study.State, live bool, err error) {
	live = true
	for begun := time.Now(); r.Waits(l); {
		if held, err := journal.InUse(l.Journal()); err != nil {
			return nil, live, err
		} else if !held {
			err := session.Edit(nil, session.Options{Dir: string(l), Program: programVersion()}, func(*session.Study) error { return nil })
			if live = err != nil; live && !errors.Is(err, journal.ErrLocked) {
				return nil, live, err
			}
			continue
		}
		if time.Since(begun) > answerPatience {
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
	case !known:
		return nil, live, fmt.Errorf("somebody has removed the request %s before it was taken", r.ID)
	case refused != "":
		return nil, live, usagef("%s", refused)
	}
	return st, live, nil
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
	f.VarP(&a.workers, "workers", "w", "run `N` trials at a time; auto: one for each slot, or for every two processors")
	f.IntVarP(&a.trials, "trials", "n", 0, "finish `N` trials in all")
	durationFlag(f, &a.time, "time", "start no more trials once the study has run for `DURATION` in all")
	a.changed = f.Changed
}

func (a *adjustment) given() bool {
	return a.changed("workers") || a.changed("trials") || a.changed("time")
}

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

func (a *adjustment) request(*study.State) (study.Request, error) {
	if a.workers == autoWorkers {
		return study.Request{}, usagef("--workers: found auto, but the study may run on another machine; want a whole number")
	}
	return study.Request{Action: study.ActionAdjust, Trials: a.trials, Time: a.time, Workers: int(a.workers)}, a.check()
}

// extent says how much a study does, and how much of it at a time.
func extent(c *study.Config) string {
	n, d := c.Budget.Trials, c.Budget.Limit()
	return when(n > 0, "%s in all, ", count(n, "trial")) + when(d > 0, "for %v, ", study.Duration(d)) + count(c.Run.SlotCount(), "trial") + " at a time"
}

func newAdjust(g *global) *cobra.Command {
	var a adjustment
	cmd := &cobra.Command{
		Use:   "adjust STUDY",
		Short: "Change a study's budget and workers, even while it runs",
		Long: `Adjust changes how many trials a study runs, for how long, and how many at a time.
If an lbotune works on the study, on whatever host, it follows at once; with fewer
workers the running trials come to their end. If none does, resume continues with
the change, while run takes what its spec and its flags say. So do ask and drive if
they are given a spec.`,
		Example: "  lbotune adjust spec.study --trials 100 --workers 4",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !a.given() {
				return hinted(usagef("there is nothing to change"), "usage: lbotune adjust STUDY [--trials N] [--time DURATION] [--workers N]")
			}
			return steer(cmd.Context(), g, nil, args[0], a.request)
		},
	}
	a.flags(cmd)
	return cmd
}

// durationValue is a flag that takes what a spec takes, days included.
type durationValue struct{ *study.Duration }

func (v durationValue) Set(text string) error { return v.UnmarshalText([]byte(text)) }
func (durationValue) Type() string            { return "duration" }

func durationFlag(f *pflag.FlagSet, to *study.Duration, name, usage string) {
	f.Var(durationValue{to}, name, usage)
	f.Lookup(name).DefValue = "" // without one there is no limit
}

// autoWorkers stands for as many workers as fit this machine.
const autoWorkers = -1

// workersValue is a flag that takes a number of workers, or auto.
type workersValue int

func (v *workersValue) String() string { return strconv.Itoa(int(*v)) }
func (*workersValue) Type() string     { return "workers" }

func (v *workersValue) Set(text string) error {
	if text == "auto" {
		*v = autoWorkers
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	*v = workersValue(n)
	return err
}

// of is the number for a study. Auto is one for each slot where there are slots, and else one
// for two processors, since most programs use more than one.
func (v workersValue) of(run *study.Run) int {
	switch {
	case v != autoWorkers:
		return int(v)
	case len(run.Slots) > 0 || run.GPUs != "":
		return 0 // the slots decide
	}
	return max(1, runtime.GOMAXPROCS(0)/2)
}
