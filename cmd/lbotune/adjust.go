package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

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

// firstOf is the first of some flags that was given, "" if none was.
func (o *runOptions) firstOf(flags ...string) string {
	if i := slices.IndexFunc(flags, o.changed); i >= 0 {
		return "--" + flags[i]
	}
	return ""
}

// adjustsAlone refuses a run beside the lbotune that works on the study if that cannot take all that is
// asked for: it takes budget and workers, and neither the rest of a changed spec nor other flags.
func (o *runOptions) adjustsAlone(cfg *study.Config) error {
	st, l, err := load(o.dir)
	if err != nil {
		return hintStudy(o.dir, err)
	}
	other := ""
	if cfg != nil {
		now, was := *cfg, st.Config
		now.Dir, now.Budget.Trials, now.Budget.Time = was.Dir, was.Budget.Trials, was.Budget.Time
		now.Run.Workers, now.Run.Slots = was.Run.Workers, either(now.Run.GPUs != "", was.Run.Slots, now.Run.Slots)
		change, err := st.Reconfigured(now)
		if err != nil {
			return hintStudy(o.dir, err)
		}
		other = when(change != nil, "the spec has changed")
	}
	if flag := o.firstOf("share", "assume-lost", "log-file"); flag != "" {
		other = flag + " is for the next run"
	}
	if other == "" {
		return nil
	}
	return inUse(l, fmt.Sprintf("%s, and an lbotune works on study %s, which", other, l), "run")
}

// inUse refuses what cannot be changed beside the lbotune that works on a study.
func inUse(l layout.Study, subject, again string) error {
	return hinted(&marked{errors.New(subject + " goes on as it is: nothing was changed"), journal.ErrLocked},
		fmt.Sprintf("lbotune adjust %s changes its budget and workers; for other changes lbotune stop %[1]s, then %s again",
			word(l), again))
}

// extent says how much a study does, and how much of it at a time.
func extent(c *study.Config) string {
	n, d := c.Budget.Trials, c.Budget.Limit()
	return when(n > 0, "%s in all, ", count(n, "trial")) + when(d > 0, "for %v, ", study.Duration(d)) + count(c.Run.SlotCount(), "trial") + " at a time"
}

func newAdjust(g *global, above *cobra.Command) {
	var a adjustment
	cmd := newCommand(above, "adjust STUDY", "Change a study's budget and workers, even while it runs",
		`Adjust changes how many trials a study runs, for how long, and how many at a time.
If an lbotune works on the study, on whatever host, it follows at once; with fewer
workers the running trials come to their end. If none does, resume continues with
the change, while run takes what its spec and its flags say. So do ask and drive if
they are given a spec.`)
	cmd.Example = "  lbotune adjust spec.study --trials 100 --workers 4"
	a.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !a.given() {
			return hinted(usagef("there is nothing to change"), "usage: lbotune adjust STUDY [--trials N] [--time DURATION] [--workers N]")
		}
		return steer(cmd.Context(), g, nil, args[0], a.request)
	}
}

// durationFlag is a flag that takes what a spec takes, days included.
func durationFlag(f *pflag.FlagSet, to *study.Duration, name, usage string) {
	f.TextVar(to, name, *to, usage)
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
