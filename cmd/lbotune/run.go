package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/secrets"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

// runOptions are the flags of run and resume. They override the spec.
type runOptions struct {
	adjustment
	dir        string
	seed       uint64
	assumeLost bool
	launcher   launcher
	sharer     sharer
	detach     bool // leave the study to a job
	detached   bool // this is that job
}

func (o *runOptions) flags(g *global, cmd *cobra.Command) {
	o.adjustment.flags(cmd)
	cmd.Flags().IntVar(&o.sharer.most, "share", 0, "run at most `N` trials at a time, including those of other studies\non this machine with --share")
	cmd.Flags().BoolVarP(&g.quiet, "quiet", "q", false, "print only the result and what goes wrong, no line for each trial")
	cmd.Flags().BoolVar(&o.assumeLost, "assume-lost", false, "run again what another host started and did not finish;\nuse it only if nothing of it still runs there")
}

func newRun(g *global, above *cobra.Command) {
	var o runOptions
	var in inlineOptions
	cmd := newCommand(above, "run SPEC | run -p NAME=KIND:... [flags] -- COMMAND ...",
		"Start a study, or continue where it stopped",
		`Run starts the study that SPEC describes. The same command continues it where it
stopped. Each finished trial is a line on standard error; at the end the best values
are printed on standard output.

Without a SPEC the flags describe the study. The command follows --, and {NAME} in it
stands for a parameter's value.

Press Ctrl-C once to start no more trials and wait for the running ones, twice to
ask these to end, three times to kill them, which Ctrl-\ does at once. SIGTERM and
SIGHUP do what the second Ctrl-C does. Whatever happens, run the same command again
to continue.`)
	cmd.Example = strings.TrimRight(`
  lbotune run spec.toml
  lbotune run -p lr=log:1e-6:1e-1 -p depth=int:1:12 -p opt=choice:sgd,adam \
      --minimize loss -n 50 -- ./train.py --lr={lr} --depth={depth} --opt={opt}`, "\n")
	o.flags(g, cmd)
	in.flags(cmd)
	cmd.Flags().StringVar(&o.dir, "study", "", "keep the study in `DIR` instead of beside the spec")
	cmd.Flags().BoolVar(&o.detach, "detach", false, "leave the study to a job of the batch system in [launcher], and return")
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "seed every random choice with `N`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.describedBy(cmd) != "" {
			if o.detach {
				return hinted(usagef("--detach leaves a study to a batch system, and flags describe no [launcher]"),
					"lbotune init -- COMMAND writes a spec, which can have one")
			}
			cfg, err := in.config(cmd, &o, args)
			if err != nil {
				return err
			}
			return runStudy(cmd.Context(), g, o, cfg)
		}
		if len(args) != 1 {
			return hinted(usagef("found %s; want one SPEC, or -p flags and a command after --", count(len(args), "argument")),
				"usage: lbotune "+cmd.Use+theOnly(cmd, args))
		}
		if isStream(args[0]) && o.dir == "" {
			return hinted(usagef("%s has no place beside it for a study", args[0]), "--study DIR says where to keep it")
		}
		if begun(args[0]) {
			return hinted(usagef("%s is a study, and no spec", args[0]), "lbotune resume "+word(args[0])+" goes on with it")
		}
		cfg, err := loadSpec(g, args[0])
		if err != nil {
			return asUsage(err)
		}
		o.dir = cmp.Or(o.dir, layout.DirFor(args[0]))
		if !begun(o.dir) {
			warnOfAbsent(g, &cfg, args[0])
		}
		if o.detach {
			return detach(cmd.Context(), g, o, &cfg)
		}
		return runStudy(cmd.Context(), g, o, &cfg)
	}
}

func newResume(g *global, above *cobra.Command) {
	var o runOptions
	cmd := newCommand(above, "resume STUDY", "Continue a study from its journal alone",
		"Resume continues a study without its spec: the journal holds everything.")
	o.flags(g, cmd)
	cmd.Flags().BoolVar(&o.detached, "detached", false, "work inside the job of a detached study")
	cmd.Flags().Lookup("detached").Hidden = true
	cmd.RunE = g.inDir(func(ctx context.Context, dir string, args []string) error {
		o.dir = dir
		if o.detached {
			return runDetached(ctx, g, o)
		}
		return hintStudy(args[0], runStudy(ctx, g, o, nil))
	})
}

// asUsage makes a spec that cannot be read a mistake of the command line.
func asUsage(err error) error {
	var missing *fs.PathError
	switch {
	case isA[*spec.Error](err):
		return err
	case errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist):
		path := missing.Path
		beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.toml"))
		hint := meant(path, beside, "", "lbotune init -- COMMAND writes one for the command that you run by hand")
		if dir := layout.DirFor(path); begun(dir) && dir != path {
			hint = "its study is there: lbotune resume " + word(dir) + " goes on without it"
		}
		return hinted(usagef("there is no spec %s", path), hint)
	}
	return usage(err)
}

func begun(dir string) bool {
	_, err := os.Stat(layout.Of(dir).Journal())
	return err == nil
}

// override applies the flags and what this machine has to the config.
func (o *runOptions) override(cfg *study.Config) error {
	if err := o.check(); err != nil {
		return err
	}
	cfg.Run.Workers = either(o.workers != 0, o.workers.of(&cfg.Run), cfg.Run.Workers)
	cfg.Budget.Trials = cmp.Or(o.trials, cfg.Budget.Trials)
	cfg.Budget.Time = cmp.Or(o.time, cfg.Budget.Time)
	cfg.Seed = either(o.changed("seed"), o.seed, cfg.Seed)
	if o.changed("share") && o.sharer.most < 1 {
		return usagef("--share: found %d; want at least 1", o.sharer.most)
	}
	if err := runnable(cfg); err != nil {
		return err
	}
	if n := len(cfg.Run.Slots); n > 0 && int(o.workers) > n {
		return usagef("--workers: found %d workers, and slots for %d; each trial needs a slot to itself", o.workers, n)
	}
	if err := o.launcher.choose(cfg, layout.Study(o.dir)); err != nil {
		return err
	}
	if _, elsewhere := o.launcher.Rejoiner.(kinds.Locator); elsewhere && o.sharer.most > 0 {
		return usagef("--share: trials run where [launcher] says, and not on this machine")
	}
	return nil
}

// runnable refuses a config that wants what is not here, or more at a time than it keeps apart.
func runnable(cfg *study.Config) error {
	if err := cmp.Or(findGPUs(cfg), checkSecrets(cfg)); err != nil {
		return err
	}
	if m, shared := cfg.SharedResult(nil); shared && cfg.Run.SlotCount() > 1 {
		return hinted(usagef("%d trials at a time would write the same file %q for %s", cfg.Run.SlotCount(), m.File, m.Name),
			`run one at a time, or write file = "{trial_dir}/result.json"`)
	}
	return nil
}

// runStudy works on a study to its end; without a config from the journal alone.
func runStudy(ctx context.Context, g *global, o runOptions, cfg *study.Config) (err error) {
	o.dir = layout.Direct(o.dir)
	log, closeLog, err := g.logger(o.dir)
	if err != nil {
		return err
	}
	ui := newProgress(g.err)
	if g.quiet {
		ui.quiet, ui.pane = true, nil
	}
	o.launcher.log, o.sharer.say = log, ui.say
	defer func() { err = errors.Join(err, closeLog()) }()
	if cfg != nil {
		if err := o.override(cfg); err != nil {
			return err
		}
	}
	// A reader that has gone away, or a file at its size limit, is an error of the
	// write that meets it, and no reason to die.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ)
	opening := &meter{}
	if !g.quiet {
		opening = g.meter("taking up the study")
	}
	opts := session.Options{Dir: o.dir, Launcher: &o.launcher, Share: o.sharer.share, Program: programVersion(),
		Log: log, Adjust: o.override, AssumeLost: o.assumeLost}
	opts.Observe = func(u study.Update) {
		if p, ok := u.Record.Event.(study.Proposed); ok && u.Past {
			opening.at(p.Trial, 0)
		}
		ui.update(u)
	}
	s, err := session.Open(cfg, opts)
	opening.end()
	if errors.Is(err, journal.ErrLocked) && o.given() {
		if err := o.adjustsAlone(cfg); err != nil {
			return err
		}
		if cfg != nil { // what the flags do not say the spec does
			o.trials, o.time = cmp.Or(o.trials, cfg.Budget.Trials), cmp.Or(o.time, cfg.Budget.Time)
		}
		c, asked := request(ctx, g, nil, o.dir, o.adjustment.request)
		if asked == nil {
			asked = c.tell(g)
		}
		if asked != nil || c.live {
			return asked
		}
		s, err = session.Open(cfg, opts) // who held the study has gone: it was no run, or that has ended
	}
	if err != nil && !begun(o.dir) && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return hinted(err, "--study DIR keeps the study elsewhere")
	}
	if err != nil {
		return hintStudy(o.dir, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if !o.detached {
		if err := forgetStop(s.Layout()); err != nil {
			return err
		}
	}
	before := map[int]int{} // the attempt that has finished a trial
	for _, n := range s.State().Order {
		before[n] = s.State().Trials[n-1].Attempt
	}
	ui.begin(s)
	if o.workers == autoWorkers {
		ui.say(count(s.State().Config.Run.SlotCount(), "trial") + " at a time")
	}
	for _, text := range othersOnGPUs(&s.State().Config) {
		ui.say(text)
	}
	stop := newStopper(g, ui.say, &o.launcher, s.Layout())
	runErr := s.Run(ctx, stop.steps)
	if err := o.launcher.release(context.WithoutCancel(ctx)); err != nil {
		g.complain(err, 0)
	}
	runErr = interrupted(stop.stop(), runErr)
	ui.end(s)
	if runErr != nil {
		runErr = &marked{explain(s, runErr), errShown}
		g.complain(runErr, codeOf(runErr))
	}
	if !ui.ended && runErr == nil && !ui.quiet {
		thinking := g.meter("asking the model")
		text := closing(ctx, s.State(), s.Layout())
		thinking.end()
		fmt.Fprint(g.err, text)
	}
	onDisk := s.State()
	if isA[*journal.WriteError](runErr) { // what is known is ahead of it
		var none error
		if onDisk, none = study.Load(o.dir); none != nil || onDisk.ID != s.State().ID {
			return runErr
		}
	}
	ran := 0
	for _, n := range onDisk.Order {
		if onDisk.Trials[n-1].Attempt != before[n] {
			ran++
		}
	}
	err = summarize(g, onDisk, s.Layout(), &ran)
	if err != nil && !errors.Is(err, syscall.EPIPE) && !isA[signalled](runErr) { // it may be the terminal that has gone
		return errors.Join(runErr, err)
	}
	return runErr
}

func explainTrial(s *session.Study, err error, trial int, advice string) error {
	t, none := s.State().Trial(trial)
	if none != nil || t.Failure == nil || t.Hand {
		return err
	}
	dir := s.Layout().Attempt(layout.AttemptID{Trial: trial, Attempt: t.Attempt})
	return withOutput(s, err, dir, fmt.Sprintf("all of trial %d's output is in %s; %s", trial, dir, advice))
}

// listUnsaved adds the results that are nowhere else.
func listUnsaved(s *session.Study, unsaved *session.UnsavedError) error {
	text := unsaved.Error()
	for _, f := range unsaved.Finished {
		dir := s.Layout().Attempt(layout.AttemptID{Trial: f.Trial, Attempt: f.Attempt})
		result := string(f.Status)
		objective := s.State().Config.Objective().Name
		if v, ok := f.Metrics.Get(objective); ok {
			result = objective + " = " + exact(v)
		} else if _, err := s.Layout().Stat(dir); errors.Is(err, fs.ErrNotExist) {
			result = "not known, for its directory has gone: " + dir
		}
		values := s.State().Trials[f.Trial-1].Values()
		text += fmt.Sprintf("\n  trial %d: %s with %s", f.Trial, oneLine(result), oneLine(values.String()))
	}
	return &marked{errors.New(text), unsaved}
}

// explain adds to an error what a person can do about it.
func explain(s *session.Study, err error) error {
	var guard *session.GuardError
	var setup *session.SetupError
	var unsaved *session.UnsavedError
	again := "run the same command to continue from here"
	switch {
	case errors.As(err, &setup):
		return withOutput(s, err, setup.Dir, "its output is in "+setup.Dir)
	case errors.As(err, &guard):
		return explainTrial(s, err, guard.Trial, "fix the program or the spec and run the same command again"+
			when(s.State().Best() != nil, "; lbotune rerun %s --failed has what failed run again, too", word(s.Layout())))
	case errors.As(err, &unsaved):
		return hinted(listUnsaved(s, unsaved), "nothing more was started, and what is running keeps running; when the journal can be written again, "+again)
	case isA[signalled](err):
		if dirs := left(s.State(), s.Layout()); len(dirs) > 0 {
			again = fmt.Sprintf("the jobs of %s go on; run the same command to continue from here, or lbotune stop %s to cancel them",
				owners(s.Layout(), dirs), word(s.Layout()))
		}
		return hinted(err, again)
	case errors.Is(err, session.ErrAwaited):
		return hinted(err, "give their values back with lbotune tell, or raise the budget")
	case errors.Is(err, runner.ErrElsewhere):
		return hinted(err, "if nothing of it is still running on that host, run it again with --assume-lost")
	case errors.Is(err, session.ErrInfeasible):
		return hinted(err, "loosen a limit, widen a range or raise the budget, and run the same command again")
	case errors.Is(err, session.ErrNoSuccess) && len(s.State().Order) > 0:
		last, then := s.State().Order[len(s.State().Order)-1], "raise the budget"
		if c := s.State().Closed; c != nil && c.Why == study.EndExhausted { // a larger budget has nothing else to try
			then = either(len(s.State().Failed()) > 0, fmt.Sprintf("have what failed tried again by lbotune rerun %s --failed,", word(s.Layout())), "widen a range")
		}
		return explainTrial(s, err, last, fmt.Sprintf("fix the program or the spec, %s and run the same command again", then))
	case runner.IsShortage(err):
		return hinted(err, "raise its limit (see ulimit -a) or take fewer --workers; "+again)
	case cannotWrite(err):
		return hinted(err, "nothing more was started; with room on the disk, "+again)
	}
	return err
}

// checkSecrets refuses to begin without the secrets that the trials need.
func checkSecrets(cfg *study.Config) error {
	for _, name := range cfg.Run.SecretEnv {
		switch value, set := os.LookupEnv(name); {
		case !set:
			return usagef("run.secret_env: %s is not set in the environment of lbotune", name)
		case len(value) < secrets.Shortest:
			return usagef("run.secret_env: the value of %s is too short to be kept out of other text; want at least %d bytes", name, secrets.Shortest)
		}
	}
	return nil
}
