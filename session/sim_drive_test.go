package session_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/pruner"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// The kinds of steps in which a program runs trials itself and reports their readings: until it gives
// the study up, is killed, or loses the power or an operation on the journal.
var driveKinds = []string{"drive", "driveKill", "drivePower", "driveFault"}

// drives reports whether a program runs trials itself.
func (p *simPlan) drives() bool { return p.has(driveKinds...) }

// simCourse is what a program knows of an attempt at a trial, of which it has reported readings.
type simCourse struct {
	process  int // that runs it
	attempt  int
	counted  bool // its readings have no steps
	level    float64
	readings []simReading
	torn     *simReading // of which nobody knows whether it was kept
	told     bool        // or stopped, by the process that runs it
	lost     bool        // some of it may be
	synced   bool        // nothing of it can be lost any more
	former   *simCourse  // of the attempt before, which was broken off
}

// simReading is one call of Report.
type simReading struct {
	step    float64
	metrics study.Metrics
}

// measured puts together what was reported of one step. What is last is complete in the end, or if
// nothing is missing, but for the only reading of a program that has no steps.
func measured(config *study.Config, readings []simReading, ended bool) (out []string) {
	counts := map[string]int{}
	last, at, steps := study.Metrics{}, 0.0, false
	complete := func() {
		out = append(out, fmt.Sprint(at, last))
		last = study.Metrics{}
	}
	for _, r := range readings {
		steps = steps || !math.IsNaN(r.step)
		for _, m := range config.Metrics {
			v, reported := r.metrics[m.Name]
			if !reported {
				continue
			}
			step := r.step
			if counts[m.Name]++; math.IsNaN(step) {
				step = float64(counts[m.Name])
			}
			if _, again := last[m.Name]; again || len(last) > 0 && at != step {
				complete()
			}
			last[m.Name], at = v, step
		}
		if len(last) == len(config.Metrics) {
			complete()
		}
	}
	if ended && len(last) > 0 && (len(out) > 0 || steps) {
		complete()
	}
	return out
}

// explains reports whether the measurements that are known of a trial may be those of its course.
func (c *simCourse) explains(config *study.Config, known []study.Measurement) bool {
	if c == nil {
		return len(known) == 0
	}
	var got []string
	for _, m := range known {
		got = append(got, fmt.Sprint(m.Step, m.Metrics))
	}
	least, all := measured(config, c.readings, c.told), c.readings
	if c.lost {
		least = nil
	}
	if c.torn != nil {
		all = append(slices.Clone(all), *c.torn)
	}
	begins := func(all, some []string) bool { return len(some) <= len(all) && slices.Equal(all[:len(some)], some) }
	return begins(got, least) && begins(measured(config, all, c.told || c.torn != nil), got) ||
		len(least) == 0 && c.former.explains(config, known)
}

// judged are the readings at which a pruner looks: those of all objectives.
func (c *simCourse) judged(config *study.Config) (out []study.Reading) {
	for _, r := range c.readings {
		var values []float64
		for _, m := range config.Objectives() {
			if v, ok := r.metrics[m.Name]; ok {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			continue
		}
		reading := study.Reading{Step: r.step, Value: values[0]}
		if c.counted {
			reading.Step = float64(len(out) + 1)
		}
		if len(values) > 1 {
			reading.Others = values[1:]
		}
		out = append(out, reading)
	}
	return out
}

// keptReadings checks that nothing which was reported has got lost.
func (s *simulation) keptReadings(st *study.State, when any) {
	for n, c := range s.courses {
		if n > len(st.Trials) || !c.explains(&st.Config, st.Trials[n-1].Measurements) {
			s.fault("%v: of trial %d was reported %+v, and is known %v", when, n, *c, st.Trials[n-1].Measurements)
		}
	}
}

// doubt says that what is not on disk may be lost.
func (s *simulation) doubt() {
	for _, c := range s.courses {
		for ; c != nil; c = c.former {
			c.lost = c.lost || !c.synced
		}
	}
}

// drive is a program that asks, reports and tells, until its step has come to pass.
func (s *simulation) drive(c *study.Config, step simStep) {
	s.processes++
	partial := func(n int) int { return int(step.pick % uint64(n+1)) }
	die := faultfs.Fault{N: step.n, Forever: true, Dead: true, Err: errSimulated, Partial: partial}
	dies := step.kind == "driveKill" || step.kind == "drivePower"
	switch {
	case dies:
		s.disk.Inject(die)
	case step.kind == "driveFault":
		s.disk.Inject(faultfs.Fault{N: step.n, Err: syscall.ENOSPC, Partial: partial, Only: func(op faultfs.Op) bool {
			return strings.HasPrefix(filepath.Base(op.Path), "journal.jsonl")
		}})
	}
	opts := s.options(nil)
	opts.Launcher = nil
	st, err := s.open(c, opts, step)
	failed := false
	if err == nil {
		s.keptReadings(st.State(), step)
		err = s.client(st, step)
		if failed = s.disk.Fired(); dies && !failed { // at the latest now
			die.N, failed = 1, true
			s.disk.Inject(die)
		}
		err = errors.Join(err, st.Close())
	}
	failed = failed || s.disk.Fired()
	s.disk.Inject(faultfs.Fault{})
	switch {
	case failed && step.kind != "driveKill":
		s.doubt()
	case !failed && err == nil:
		s.sameRead(st.State(), step)
		for _, c := range s.courses {
			c.synced = true
		}
	}
	if step.kind == "drivePower" {
		s.machine.powerCut()
		s.disk = afterPowerCut(s.disk, step.pick)
	} else {
		s.disk = s.disk.Kill()
	}
	var unsafe *session.UnsafeError
	switch {
	case err == nil, errors.Is(err, study.ErrNoStudy), failed && errors.As(err, new(*journal.WriteError)):
	case errors.As(err, &unsafe) && len(s.enqueued) > 0:
	default:
		s.fault("%v: %v", step, err)
	}
}

// client asks, reports and tells. It begins with what an earlier one was given.
func (s *simulation) client(st *session.Study, step simStep) error {
	rng := rand.New(rand.NewPCG(step.pick, 5))
	var mine []int
	for _, t := range st.State().Pending() {
		if t.Hand {
			mine = append(mine, t.Number)
		}
	}
	for range 5 + rng.IntN(40) {
		time.Sleep(time.Duration(rng.Int64N(int64(200 * time.Millisecond))))
		var err error
		at := 0
		if len(mine) > 0 {
			at = rng.IntN(len(mine))
		}
		switch what := rng.IntN(100); {
		case len(mine) == 0 || len(mine) < 3 && what < 15:
			var t study.Trial
			if t, err = st.Ask(context.Background()); err == nil {
				mine = append(mine, t.Number)
			} else if errors.Is(err, session.ErrSpent) || errors.Is(err, optimizer.ErrExhausted) {
				err = nil
			}
		case what < 85:
			err = s.reportOnce(st, mine[at], rng)
		case what < 88:
			err = st.Fail(mine[at], "failed")
			s.over(mine[at], err)
		case what < 95:
			err = st.Tell(mine[at], s.draw(st.State(), mine[at], rng))
			s.over(mine[at], err)
		default:
			err = st.Serve()
		}
		if err != nil {
			return err
		}
		mine = slices.DeleteFunc(mine, func(n int) bool { return st.State().Trials[n-1].Done() })
	}
	return nil
}

// over notes that the program has told of a trial, or tried to.
func (s *simulation) over(trial int, err error) {
	c := s.courses[trial]
	switch {
	case c == nil || c.process != s.processes:
	case err == nil:
		c.told = true
	default:
		c.torn = &simReading{step: math.NaN()}
	}
}

// draw is what a program has measured of a trial.
func (s *simulation) draw(st *study.State, trial int, rng *rand.Rand) study.Metrics {
	t, prog := st.Trials[trial-1], simProgram{}
	if s.plan.sheet != nil {
		prog = s.plan.sheet.prog
	}
	level := 4 * rng.Float64()
	if c := s.courses[trial]; c != nil && c.process == s.processes {
		reach := cmp.Or(prog.reach, 1)
		c.level -= reach * (1.4*rng.Float64() - 0.4)
		level = c.level
	}
	if prog.lipschitz {
		x, _ := t.Values().Get("x")
		f, _ := x.Number()
		level = math.Abs(f - s.plan.target())
	}
	if prog.maximize {
		level = -level
	}
	out := s.plan.told(t)
	if out == nil {
		out = study.Metrics{}
	}
	out[st.Config.Objective().Name] = level
	if prog.memory {
		out["memory"] = float64(rng.IntN(700)) / 100
	}
	if prog.gain {
		out["gain"] = rng.Float64()
	}
	if prog.metrics {
		out["size"] = float64(rng.IntN(50))
	}
	return out
}

// reportOnce reports one reading of a trial, and checks what the study says.
func (s *simulation) reportOnce(st *session.Study, trial int, rng *rand.Rand) error {
	state := st.State()
	config, t := &state.Config, state.Trials[trial-1]
	c := s.courses[trial]
	if c == nil || c.process != s.processes {
		if c != nil {
			s.plan.tally.add("what was reported was broken off")
		}
		c = &simCourse{process: s.processes, counted: rng.IntN(3) == 0, level: 4 * rng.Float64(), former: c}
		s.courses[trial] = c
	}
	next := simReading{step: math.NaN(), metrics: s.draw(state, trial, rng)}
	if !c.counted {
		next.step = 1
		if n := len(c.readings); n > 0 {
			next.step = c.readings[n-1].step + float64([]int{0, 1, 1, 1, 1, 3}[rng.IntN(6)])
		}
		switch rng.IntN(8) { // some metrics come with another call, or not at all
		case 0:
			for _, m := range config.Metrics {
				if m.Direction == "" {
					delete(next.metrics, m.Name)
				}
			}
		case 1:
			for _, m := range config.Objectives() {
				delete(next.metrics, m.Name)
			}
		}
	}
	if len(next.metrics) > 0 && rng.IntN(25) == 0 {
		for name := range next.metrics {
			next.metrics[name] = math.NaN()
		}
	}
	want := s.verdict(state, trial, c, next)
	over, err := st.Report(trial, next.step, next.metrics)
	if err != nil {
		c.torn = &next
		return err
	}
	c.readings = append(c.readings, next)
	if c.attempt = t.NextAttempt(); over {
		c.attempt, c.told = t.Attempt, true
	}
	switch {
	case over != t.Done() || over != (t.Cut != nil && t.Cut.Attempt == c.attempt):
		s.fault("trial %d: over %v, and it is %q, cut at %+v", trial, over, t.Status, t.Cut)
	case want == nil:
	case over != (want.Why != ""):
		s.fault("trial %d: over %v, %+v; want %+v, after %+v", trial, over, t.Cut, want, c.readings)
	case over:
		s.stoppedAs(config, t, c, want)
		return s.tellTwice(st, t, rng)
	}
	return nil
}

// tellTwice tells of a trial that its readings have ended, which changes nothing.
func (s *simulation) tellTwice(st *session.Study, t *study.Trial, rng *rand.Rand) error {
	before := fmt.Sprint(t.Status, t.Value, t.Metrics, t.Failure)
	err := st.Tell(t.Number, s.draw(st.State(), t.Number, rng))
	over, again := st.Report(t.Number, math.NaN(), study.Metrics{st.State().Config.Objective().Name: 0})
	if after := fmt.Sprint(t.Status, t.Value, t.Metrics, t.Failure); after != before || !over {
		s.fault("trial %d has ended with %s, and is %s after it was told (over %v)", t.Number, before, after, over)
	}
	return errors.Join(err, again)
}

// verdict is what must become of a trial with its next reading: a cut without a reason if it goes on, and nil
// if that cannot be said. A pruner is asked that knows what the programs know of their trials, and of those
// that lbotune runs what was kept.
func (s *simulation) verdict(st *study.State, trial int, c *simCourse, next simReading) *study.Cut {
	if s.plan.has("respec") { // readings of before may not have been kept
		return nil
	}
	config := &st.Config
	after := *c
	after.readings = append(slices.Clone(c.readings), next)
	before, now := c.judged(config), after.judged(config)
	p, err := pruner.For(config.Prune, config.Objective().Direction == study.Minimize)
	if err != nil {
		s.fault("%v", err)
		return nil
	}
	if p != nil && len(now) > len(before) {
		s.teach(p, st, trial)
		var d pruner.Decision
		for _, r := range now {
			d = p.Read(st.Maximized(trial, r))
		}
		if d.Stop {
			return &study.Cut{Reading: now[len(now)-1], Why: d.Why, Complete: d.Complete}
		}
	}
	for _, m := range config.Metrics {
		for _, l := range config.Limits() {
			if v, ok := next.metrics[m.Name]; ok && m.StopsEarly() && l.Metric == m.Name && l.Over(study.Metrics{m.Name: v}) > 0 {
				return &study.Cut{Metric: m.Name, Reading: study.Reading{Value: v}, Why: l.Broken(study.Metrics{m.Name: v})}
			}
		}
	}
	return &study.Cut{}
}

// teach tells a pruner of all trials but one. What was read of attempts that were broken off it has seen, and
// forgets: a slope that was steeper than stated stays disproved.
func (s *simulation) teach(p *pruner.Pruner, st *study.State, but int) {
	of := func(n int) (c *simCourse, counts bool) { // of an attempt of which all is known
		t := st.Trials[n-1]
		if c = s.courses[n]; c == nil || c.lost || c.torn != nil {
			return nil, false
		}
		return c, c.attempt == t.NextAttempt() && !t.Done() || c.attempt == t.Attempt && t.Done()
	}
	feed := func(n int) {
		c, counts := of(n)
		if c != nil {
			p.Forget(n)
		}
		if counts {
			for _, r := range c.judged(&st.Config) {
				p.Restore(st.Maximized(n, r))
			}
		}
	}
	for _, w := range st.Watched {
		switch {
		case w.Finish > 0:
			feed(w.Finish)
			p.Finish(w.Finish, w.Reading.Value)
		case w.Forget > 0:
			p.Forget(w.Forget)
		default:
			p.Restore(w.Reading)
		}
	}
	p.Forget(but)
	for _, t := range st.Pending() {
		if t.Number != but {
			feed(t.Number)
		}
	}
}

// stoppedAs checks the end of a trial that is stopped for its readings.
func (s *simulation) stoppedAs(config *study.Config, t *study.Trial, c *simCourse, want *study.Cut) {
	s.plan.tally.add("what was reported has ended a trial")
	var status optimizer.Status
	value := want.Reading.Value
	readings := c.judged(config)
	switch {
	case want.Metric != "":
		status = optimizer.Pruned
		if v, _ := t.Metrics.Get(want.Metric); fmt.Sprint(v) != fmt.Sprint(want.Reading.Value) {
			s.fault("trial %d was stopped at %s = %v, and has %v", t.Number, want.Metric, want.Reading.Value, v)
		}
	case want.Complete:
		value = picked(config.Objective().Rule.Pick, readings)
		status = optimizer.Succeeded
		for _, m := range config.Metrics {
			last := math.NaN()
			for _, r := range c.readings {
				if v, ok := r.metrics[m.Name]; ok {
					last = v
				}
			}
			if m.Limited() && (math.IsNaN(last) || math.IsInf(last, 0)) {
				status = optimizer.Pruned // whether it holds the limit is not known
			}
		}
	default:
		status = optimizer.Pruned
	}
	if want.Metric == "" && (math.IsNaN(value) || math.IsInf(value, 0)) {
		status = optimizer.Failed
	}
	same := t.Cut.Metric == want.Metric && (want.Metric != "" && strings.HasSuffix(t.Cut.Why, want.Why) ||
		t.Cut.Why == want.Why && t.Cut.Complete == want.Complete && fmt.Sprint(t.Cut.Reading) == fmt.Sprint(want.Reading))
	if !same || t.Status != status || want.Metric == "" && status != optimizer.Failed && t.Value != value {
		s.fault("trial %d was stopped by %+v: %s with %v; want %+v, %s with %v, after %+v", t.Number, *t.Cut, t.Status, t.Value, *want, status, value, c.readings)
	}
}

// picked is which of several readings is a trial's value.
func picked(how string, readings []study.Reading) float64 {
	var values []float64
	for _, r := range readings {
		if !math.IsNaN(r.Value) || how == "" || how == "last" || how == "first" {
			values = append(values, r.Value)
		}
	}
	switch {
	case len(values) == 0:
		return math.NaN()
	case how == "first":
		return values[0]
	case how == "min":
		return slices.Min(values)
	case how == "max":
		return slices.Max(values)
	}
	return values[len(values)-1]
}
