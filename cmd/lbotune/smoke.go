package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

const smokeMiddle, smokeAll = "middle", "all"

type smokeJSON struct {
	Value   float64       `json:"value"`
	Params  spaces.Values `json:"params"`
	Seconds float64       `json:"seconds"`
	Command string        `json:"command"`
	Budget  string        `json:"budget,omitempty"`
	Wrote   []string      `json:"wrote,omitempty"` // that the trials have changed in the directory in which they all run
}

// smokeTest runs one trial, or so many that every choice and switch is tried, in a study of its
// own, which stays for a look if one fails.
func smokeTest(ctx context.Context, g *global, cfg *study.Config, base string, all bool) error {
	s, dir, runErr := smokeRun(ctx, g, cfg, base, all)
	if s == nil {
		return runErr
	}
	st := s.State()
	if all && len(st.Order) > 0 {
		if !g.json {
			fmt.Fprintln(g.out)
		}
		if err := printTrials(g, st, s.Layout(), st.Trials); err != nil {
			return err
		}
	}
	failed := slices.IndexFunc(st.Trials, func(t *study.Trial) bool { return !t.Succeeded() })
	if failed == 1 && !all && cfg.Run.SlotCount() == 1 && st.Trials[1].Failure != nil { // other values may fail: a study learns where
		fmt.Fprintf(g.err, "another trial, with %s, failed: %s\n", oneLine(st.Trials[1].Values().String()), oneLine(st.Trials[1].Failure.Text))
		failed = -1
	}
	switch {
	case isA[signalled](runErr):
		if !all && failed > 0 { // what the first has shown
			runErr = errors.Join(runErr, printSmoke(g, cfg, s, st.Trials[0]))
		}
		return errors.Join(runErr, door.RemoveAll(dir))
	case failed >= 0 || runErr != nil:
		fmt.Fprintf(g.err, "kept for you to look at: rm -r %s removes it\n", shell.Word(dir))
		return smokeFailed(s, failed, runErr)
	case !all:
		if err := printSmoke(g, cfg, s, st.Trials[0]); err != nil {
			return err
		}
	}
	return door.RemoveAll(dir)
}

// smokeRun runs the trials in a study in dir. Without a study there is an error, and no dir.
func smokeRun(ctx context.Context, g *global, cfg *study.Config, base string, all bool) (s *session.Study, dir string, err error) {
	one := *cfg
	if err := errors.Join(findGPUs(&one), checkSecrets(&one)); err != nil {
		return nil, "", err
	}
	if all && cfg.Safety != nil {
		return nil, "", hinted(usagef("--smoke=all tries other values than today's, and with [safety] those may do harm"), "--smoke runs today's values alone")
	}
	_, elsewhere, _ := able[kinds.Locator](cfg, "")
	dir, err = os.MkdirTemp(either(elsewhere, base, ""), "lbotune-smoke-") // base is where the nodes see it
	if err != nil {
		return nil, "", &marked{fmt.Errorf("make a temporary study: %w", err), errNoPlace}
	}
	defer func() {
		if s == nil {
			err = errors.Join(err, door.RemoveAll(dir))
		}
	}()
	space, err := cfg.Space()
	if err != nil {
		return nil, dir, err
	}
	tried, doing := []spaces.Values{space.Decode(space.Center())}, "running one trial at the middle of the space"
	if _, known := space.Default(); known { // every study begins with it
		tried, doing = nil, "running one trial with today's values"
	}
	trials := 1
	one.Budget, one.Hooks = study.Budget{}, nil
	one.Run.Retries, one.Run.Repeats, one.Run.Confirm, one.Run.FailureGuard, one.Run.Keep = 0, 1, 0, -1, 0
	switch {
	case all:
		trials -= len(tried)
		tried = space.Cover()
		trials += len(tried)
		doing = fmt.Sprintf("running %s that try every choice and switch", count(trials, "trial"))
	case cfg.Safety != nil: // other values may do harm
	case cfg.Run.SlotCount() > 1: // what is only wrong side by side is seen now
		trials = 2
		doing += ", and another beside it"
	default:
		trials, one.Budget.Time, one.Run.FailureGuard = 2, study.Duration(10*time.Second), 1
		doing += ", and another with other values if that does not take long"
	}
	one.Budget.Trials, one.WarmStart = trials, nil
	if one.Prune = nil; cfg.Prunes() { // so that trials run as they will, and none is stopped
		one.Prune = &study.Prune{Method: "median", MinTrials: 1 << 30}
	}
	one.Run.Workers = min(one.Run.SlotCount(), trials)
	var l launcher
	if err := l.choose(&one, layout.Study(dir)); err != nil {
		return nil, dir, err
	}
	log, closeLog, err := g.logger(dir)
	if err != nil {
		return nil, dir, err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	say := func(text string) { fmt.Fprintln(g.err, text) }
	sharer := sharer{say: say}
	s, err = session.Open(&one, session.Options{Dir: dir, Launcher: &l, Share: sharer.share, Program: programVersion(), Log: log})
	if err != nil {
		return nil, dir, err
	}
	for _, values := range tried {
		if err := s.Do(study.Request{Action: study.ActionEnqueue, Values: values}); err != nil {
			return nil, dir, errors.Join(err, s.Close())
		}
	}
	say(doing)
	stop := newStopper(g, say, &l, s.Layout())
	runErr := s.Run(ctx, stop.steps)
	if errors.Is(runErr, session.ErrInfeasible) {
		runErr = nil // a study learns where the limits hold
	}
	runErr = errors.Join(interrupted(stop.stop(), runErr), l.release(context.WithoutCancel(ctx)))
	if err := s.Close(); err != nil {
		return nil, dir, errors.Join(runErr, err)
	}
	return s, dir, runErr
}

// listMetrics runs one trial of a spec without a way to find the metric, and lists what there is where
// the spec says that it is, or else in stdout or, if nothing is there, in stderr.
func listMetrics(ctx context.Context, g *global, cfg *study.Config, base string) error {
	sought := append(cfg.Metrics, study.Metric{})[0]
	cfg.Metrics = []study.Metric{{Name: "value", Rule: parser.Rule{LastNumber: true}, Direction: study.Minimize}} // any will do
	s, dir, err := smokeRun(ctx, g, cfg, base, false)
	if s == nil {
		return err
	}
	trials := s.State().Trials
	if len(trials) == 0 || !trials[0].Succeeded() && !withoutValue(trials[0].Failure) {
		if isA[signalled](err) {
			return errors.Join(err, door.RemoveAll(dir))
		}
		return smokeFailed(s, min(len(trials)-1, 0), err)
	}
	ran, advice := lastBindings(s.Layout(), cfg, trials[0]), `metric = "NAME"`
	output := func(name string) ([]byte, error) {
		var text bytes.Buffer
		err := runner.Read(ctx, s.Layout().Output(filepath.Join(ran.TrialDir, name)), &text, math.MaxInt64)
		if errors.Is(err, fs.ErrNotExist) { // an empty one goes
			err = nil
		}
		return text.Bytes(), err
	}
	var log []byte
	switch sought.Rule.Source {
	case parser.File:
		name, _ := ran.Expand(sought.File)
		if log, err = door.ReadFile(command.Inside(ran.WorkDir(), name), maxTryout); errors.Is(err, fs.ErrNotExist) {
			err = &marked{fmt.Errorf("the trial has written no %s", sought.File), errNoValue}
		}
	case parser.Stderr:
		log, err = output(runner.StderrName)
	default:
		log, err = output(runner.StdoutName)
		if err == nil && len(parser.Candidates(log)) == 0 {
			if other, e := output(runner.StderrName); e == nil && len(parser.Candidates(other)) > 0 {
				log, advice = other, advice+` and source = "stderr"`
			}
		}
	}
	if err = errors.Join(err, door.RemoveAll(dir)); err == nil {
		err = listCandidates(g, bytes.NewReader(log))
	}
	return cmp.Or(err, hinted(usagef("the spec does not say how to find the metric"), "write it into [objective], for example "+advice))
}

// withoutValue reports whether a trial ran well, but for the metric.
func withoutValue(f *study.Failure) bool {
	return f != nil && (f.Kind == study.FailNoMetric || f.Kind == study.FailNotFinite)
}

// smokeFailed says what went wrong, with the output of the first trial that failed.
func smokeFailed(s *session.Study, failed int, err error) error {
	st := s.State()
	if failed < 0 || len(st.Order) == 0 || err != nil && !errors.Is(err, session.ErrNoSuccess) {
		return explain(s, err)
	}
	t := st.Trials[failed]
	if all := len(st.Trials); all > 1 {
		failures := slices.DeleteFunc(slices.Clone(st.Trials), (*study.Trial).Succeeded)
		err = fmt.Errorf("%d of %s failed; trial %d: %s", len(failures), count(all, "trial"), t.Number, t.Failure.Text)
	}
	dir := s.Layout().Attempt(layout.AttemptID{Trial: t.Number, Attempt: t.Attempt})
	return &marked{withOutput(s, err, dir, "all of its output is in "+dir), errNoValue}
}

func printSmoke(g *global, cfg *study.Config, s *session.Study, t *study.Trial) error {
	out := smokeJSON{Value: t.Value, Params: t.Values(), Seconds: journal.Seconds(t.Took), Command: commandLine(s.State(), s.Layout(), t), Wrote: s.Wrote()}
	if n := cfg.Budget.Trials; n > 0 {
		workers := cfg.Run.SlotCount()
		rounds := math.Ceil(float64(n) * float64(max(cfg.Run.Repeats, 1)) / float64(workers))
		whole := math.Min(float64(t.Took)*rounds, math.MaxInt64/2) // of 292 years
		out.Budget = fmt.Sprintf("%s with %s at this pace: about %s", count(n, "trial"), count(workers, "worker"), took(time.Duration(whole)))
	}
	text := fmt.Sprintf("\nsmoke test\n  %s\n  %s = %s in %s\n", printable(out.Command), oneLine(cfg.Objective().Name), exact(t.Value), took(t.Took))
	broken := cfg.Broken(t.Metrics)
	text += when(len(broken) > 0, "  over a limit: %s\n", oneLine(strings.Join(broken, "; "))) + when(out.Budget != "", "  %s\n", out.Budget)
	if ts := s.State().Trials; len(ts) > 1 && ts[1].Succeeded() && t.Value == ts[1].Value {
		var names []string
		for _, a := range ts[1].Values() {
			if was, ok := t.Values().Get(a.Name); !ok || was != a.Value {
				names = append(names, a.Name)
			}
		}
		text += when(len(names) > 0, "  a trial with other values of %s has this value, too: the program seems not to read them where they are set%s\n",
			oneLine(strings.Join(names, ", ")), when(cfg.Run.SlotCount() > 1, ", or both write to one file"))
	}
	if n := len(out.Wrote); n > 0 {
		names := strings.Join(out.Wrote[:min(n, 3)], ", ") + when(n > 3, ", and %d more", n-3)
		text += "  wrote " + oneLine(names) + " where all trials run" +
			when(cfg.Run.SlotCount() > 1, ": if the names are the same for each, set isolate = true in [run], or write below {trial_dir}") + "\n"
	}
	return g.show(out, text)
}
