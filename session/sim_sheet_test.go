package session_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

// simSheet is the spec of a simulated study, into which the settings that were drawn write
// their keys, and what its program does.
type simSheet struct {
	rng    *rand.Rand
	plan   *simPlan
	tables map[string]map[string]string
	order  []string // of the tables
	where  []string
	clash  string // a key that two settings write differently
	late   []func()
	prog   simProgram
}

// simProgram is what the program of a sheet prints.
type simProgram struct {
	step      string  // the name of the step
	metrics   bool    // a metric that is only looked at
	gain      bool    // a second objective
	memory    bool    // a metric with a limit, which grows from line to line
	pressure  bool    // a metric with a safety limit
	lipschitz bool    // the objective has a slope of 1 in x, and no noise
	reach     float64 // by how much a reading is better than the one before, at most
	secret    bool    // failures print a secret
	ok        int     // the exit code of a good run
	file      bool    // the objective stands in a file
	maximize  bool
	pick      string
}

// simSecret is the value of the variable with the secret.
const simSecret, simSecretName = "s3cr3t-\"of\"-simulated-studies", "LBOTUNE_SIMULATED_SECRET"

// simLimit is the limit of the metric memory, which is between 0 and 10, simPressure that of
// pressure, which is 0.1 in the middle of x and 0.4 at its ends.
const (
	simLimit    = 6
	simPressure = 0.3
)

// set writes a key; a value that another setting has written is a clash.
func (s *simSheet) set(table, key, value string) {
	t := s.table(table)
	if old, there := t[key]; there && old != value {
		s.clash = strings.TrimPrefix(table+"."+key, ".")
	}
	t[key] = value
}

func (s *simSheet) table(name string) map[string]string {
	if s.tables[name] == nil {
		s.tables[name] = map[string]string{}
		s.order = append(s.order, name)
	}
	return s.tables[name]
}

// unset writes a key that no setting has written.
func (s *simSheet) unset(table, key, value string) {
	if t := s.table(table); t[key] == "" {
		t[key] = value
	}
}

// param adds a parameter by pairs of key and value.
func (s *simSheet) param(name string, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		s.set("params."+name, pairs[i], pairs[i+1])
	}
}

// steps adds what befalls the study: what people do between two sessions mostly after one.
func (s *simSheet) steps(kinds ...string) {
	for range 1 + s.rng.IntN(2) {
		step := s.step(kinds[s.rng.IntN(len(kinds))])
		if !slices.Contains(drawnKinds, step.kind) && s.chance(80) {
			s.plan.steps = append(s.plan.steps, s.step(s.pickOf("stop1", "stop2", "leave")))
		}
		s.plan.steps = append(s.plan.steps, step)
	}
}

func (s *simSheet) step(kind string) simStep {
	return simStep{kind: kind, at: time.Duration(s.rng.Int64N(1 + s.rng.Int64N(int64(12*time.Second)))), n: 1 + s.rng.IntN(40), pick: s.rng.Uint64()}
}

func (s *simSheet) chance(percent int) bool { return s.rng.IntN(100) < percent }

// pickOf is one of some words.
func (s *simSheet) pickOf(words ...string) string { return words[s.rng.IntN(len(words))] }

// text is the spec.
func (s *simSheet) text() string {
	var b strings.Builder
	var words []string
	for _, name := range s.order {
		if p, isParam := strings.CutPrefix(name, "params."); isParam {
			words = append(words, fmt.Sprintf("%q", p+"={"+p+"}"))
		}
	}
	fmt.Fprintf(&b, "command = [\"sim\", \"slot={slot}\", %s]\n", strings.Join(words, ", "))
	if len(s.where) > 0 {
		fmt.Fprintf(&b, "where = [\"%s\"]\n", strings.Join(s.where, `", "`))
	}
	for _, name := range append([]string{""}, s.order...) {
		switch name {
		case "":
		case "files":
			b.WriteString("\n[[files]]\n")
		default:
			fmt.Fprintf(&b, "\n[%s]\n", name)
		}
		t := s.tables[name]
		for _, k := range slices.Sorted(maps.Keys(t)) {
			fmt.Fprintf(&b, "%s = %s\n", k, t[k])
		}
	}
	return b.String()
}

// drawnPlan draws the plan of a study with some settings. Without one they clash, or the
// error is that of lbotune check.
func drawnPlan(names []string, seed uint64) (*simPlan, error) {
	rng := rand.New(rand.NewPCG(seed, hashOf(seed, strings.Join(names, "+"))))
	p := &simPlan{seed: seed, settings: names, prints: 1 + rng.IntN(4), bad: rng.IntN(8), moody: rng.IntN(100) < 15}
	s := &simSheet{rng: rng, plan: p, tables: map[string]map[string]string{}}
	s.tables[""] = map[string]string{} // what stands above all tables
	for _, name := range []string{"objective", "params.x", "params.n", "budget", "run"} {
		s.table(name)
	}
	for _, name := range names {
		draw := settingNamed(name).draw
		if draw == nil {
			return nil, fmt.Errorf("no setting that can be drawn is called %q", name)
		}
		draw(s)
	}
	for _, f := range s.late {
		f()
	}
	if s.clash != "" {
		return nil, &clashError{s.clash}
	}
	s.base()
	if s.chance(60) {
		for range 1 + s.rng.IntN(2) {
			p.steps = slices.Insert(p.steps, s.rng.IntN(len(p.steps)+1), s.step(s.pickOf(drawnKinds...)))
		}
	}
	if s.prog.reach > 0 || s.prog.step != "" && p.prints < 3 {
		p.prints = 4
	}
	p.sheet, p.text = s, s.text()
	var err error
	if p.config, err = spec.Parse("drawn.toml", []byte(p.text), "/"); err != nil {
		return nil, err
	}
	p.config.Seed = seed
	return p, nil
}

// clashError says that two settings are values of the same key.
type clashError struct{ key string }

func (e *clashError) Error() string { return "both say " + e.key }

// base writes what no setting has.
func (s *simSheet) base() {
	if t := s.tables["objective"]; s.tables["objectives.loss"] != nil { // what is said of the one is said of the first
		for k, v := range t {
			s.set("objectives.loss", k, v)
		}
		delete(s.tables, "objective")
		s.order = slices.DeleteFunc(s.order, func(t string) bool { return t == "objective" })
	} else if t["regex"] == "" && t["last_number"] == "" {
		s.unset("objective", "metric", `"loss"`)
	}
	for _, kv := range [][2]string{{"type", `"float"`}, {"min", "0"}, {"max", "1"}} {
		s.unset("params.x", kv[0], kv[1])
	}
	for _, kv := range [][2]string{{"type", `"int"`}, {"min", "1"}, {"max", "9"}} {
		s.unset("params.n", kv[0], kv[1])
	}
	s.unset("budget", "trials", strconv.Itoa(3+s.rng.IntN(7)))
	s.unset("run", "failure_guard", "-1")
	s.unset("run", "grace", `"1s"`)
	if s.tables["prune"] != nil && s.prog.step == "" && s.chance(50) {
		s.prog.step = "epoch"
		s.stepOfAll()
	}
}

// stepOfAll names the step in all tables of metrics.
func (s *simSheet) stepOfAll() {
	for _, t := range s.order {
		if t == "objective" || strings.HasPrefix(t, "objectives.") || strings.HasPrefix(t, "constraints.") {
			if s.tables[t]["measure"] == "" {
				s.unset(t, "step", `"`+s.prog.step+`"`)
			}
		}
	}
}

// given are the words of a command by their names.
func given(job runner.Job) map[string]string {
	out := map[string]string{}
	for _, w := range job.Argv {
		if name, value, ok := strings.Cut(w, "="); ok {
			out[name] = value
		}
	}
	return out
}

// perform is what an attempt at a trial of a sheet prints and does.
func (p *simPlan) perform(r *simRun, rng *rand.Rand, job runner.Job) {
	prog := p.sheet.prog
	r.given = given(job)
	x, _ := strconv.ParseFloat(r.given["x"], 64)
	n := p.prints
	loss := make([]float64, n)
	loss[n-1] = float64(rng.IntN(1000)) / 1000
	if prog.lipschitz {
		loss[n-1] = math.Abs(x - p.target())
	}
	for i := n - 2; i >= 0; i-- {
		switch {
		case prog.reach > 0:
			loss[i] = loss[i+1] + prog.reach*(rng.Float64()*1.4-0.4)
		case prog.lipschitz && prog.pick != "":
			loss[i] = loss[n-1]
		default:
			loss[i] = float64(rng.IntN(1000))/1000 + float64(n-i)
		}
	}
	sign := 1.0
	if prog.maximize {
		sign = -1
	}
	last := map[string]float64{"size": float64(rng.IntN(50)), "gain": float64(rng.IntN(100)) / 100,
		"memory": float64(rng.IntN(1000)) / 100, "pressure": 0.1 + 0.6*math.Abs(x-0.5)}
	r.final = map[string]float64{}
	for i := range n {
		var b strings.Builder
		if prog.step != "" {
			fmt.Fprintf(&b, "%s=%d ", prog.step, i+1)
		}
		for _, m := range []struct {
			on   bool
			name string
		}{{prog.metrics, "size"}, {prog.gain, "gain"}, {prog.memory, "memory"}, {prog.pressure, "pressure"}} {
			if m.on {
				v := last[m.name]
				if m.name == "memory" {
					v *= 0.5 + 0.5*float64(i+1)/float64(n)
				}
				r.final[m.name] = v
				fmt.Fprintf(&b, "%s=%v ", m.name, v)
			}
		}
		fmt.Fprintf(&b, "loss=%v", sign*loss[i])
		r.lines = append(r.lines, b.String())
	}
	r.value = sign * loss[n-1]
	for i := range loss {
		loss[i] *= sign
	}
	switch prog.pick {
	case "min":
		r.value = slices.Min(loss)
	case "max":
		r.value = slices.Max(loss)
	case "first":
		r.value = loss[0]
	}
	if prog.file {
		r.result = fmt.Sprintf("loss=%v\n", r.value)
	}
	r.final["loss"], r.final["value"], r.good, r.code = r.value, r.value, prog.ok, prog.ok
}

// target is where the objective of a sheet with a stated constant is best.
func (p *simPlan) target() float64 { return float64(p.seed%5) / 4 }

// optimizer makes the one of the plan: that of a sheet whose promises depend on what is
// proposed is the real one.
func (p *simPlan) optimizer() func(*spaces.Space, uint64, optimizer.Settings, ...optimizer.Earlier) (optimizer.Optimizer, error) {
	if p.sheet != nil && slices.ContainsFunc(p.settings, func(n string) bool { return settingNamed(n).real }) {
		return optimizer.New
	}
	return newFakeOptimizer
}

// drawnValues are values of a space that somebody enqueues.
func drawnValues(c study.Config, pick uint64) (spaces.Values, error) {
	space, err := c.Space()
	if err != nil {
		return nil, err
	}
	v := space.Decode(space.Draw(rand.New(rand.NewPCG(pick, 7))))
	return slices.DeleteFunc(v, func(v spaces.Assignment) bool { return v.Name == c.Resource() }), nil
}

// earlierResults writes the table that a warm start reads: what the program of the plan would
// have measured, if its objective has a known slope.
func (s *simSheet) earlierResults() string {
	target := 0.4
	if s.prog.lipschitz {
		target = s.plan.target()
	}
	path := filepath.Join(simEarlier, fmt.Sprintf("earlier-%v-%v.csv", target, s.prog.maximize))
	var b strings.Builder
	b.WriteString("x,n,loss,value\n")
	for i := range 6 {
		x := float64(i%5) / 4
		v := math.Abs(x - target)
		if s.prog.maximize {
			v = -v
		}
		fmt.Fprintf(&b, "%v,%d,%v,%v\n", x, 1+i, v, v)
	}
	temporary, err := os.CreateTemp(simEarlier, "")
	if err == nil {
		_, err = temporary.WriteString(b.String())
		err = errors.Join(err, temporary.Close(), os.Rename(temporary.Name(), path))
	}
	if err != nil {
		panic(err)
	}
	return path
}

// told are the metrics beside the objective that a person tells of a trial.
func (p *simPlan) told(t *study.Trial) study.Metrics {
	if p.sheet == nil {
		return nil
	}
	out := study.Metrics{}
	if p.sheet.prog.gain {
		out["gain"] = 0.5
	}
	if p.sheet.prog.memory {
		out["memory"] = 5
	}
	if p.sheet.prog.pressure {
		out["pressure"] = pressureOf(t.Values())
	}
	return out
}

// pressureOf is what a drawn program measures at some values.
func pressureOf(v spaces.Values) float64 {
	x, _ := v.Get("x")
	f, _ := x.Number()
	return 0.1 + 0.6*math.Abs(f-0.5)
}

// change makes the range of x another one, as far as the study takes that.
func (s *simulation) change(c *study.Config, step simStep) {
	if len(s.disk.Content(layout.Study(s.dir).Journal())) == 0 {
		return // another study would begin
	}
	changed := *c
	changed.Params = slices.Clone(c.Params)
	i := slices.IndexFunc(changed.Params, func(p spaces.Param) bool { return p.Name == "x" })
	p := &changed.Params[i]
	if p.Min, p.Max = 0.25, 0.75; step.kind == "widen" {
		p.Min, p.Max = 0, 1.5
	}
	opts := s.options(nil)
	opts.Launcher = nil
	st, err := session.Open(&changed, opts)
	if err == nil {
		*c = changed
		err = st.Close()
	}
	var refused *study.ConfigError
	if err != nil && !errors.As(err, &refused) && allowed(err, "warm_start", "have become wider") != nil {
		s.fault("%v: %v", step, err)
	}
	s.disk = s.disk.Kill()
}

// steer leaves requests while the study runs, until it is over.
func (s *simulation) steer(step simStep, over <-chan struct{}) {
	c := s.plan.config // that of the study may be in use
	for i := range 1 + step.n%3 {
		r := study.Request{Action: study.ActionExclude, Trial: 1 + (step.n+i)%8}
		switch (step.pick >> i) % 5 {
		case 0:
			r.Action = study.ActionInclude
		case 4:
			r = study.Request{Action: study.ActionAdjust, Workers: step.workers() * (i % 2), Trials: (c.Budget.Trials + step.n%5) * ((i + 1) % 2)}
		case 1:
			v, err := drawnValues(c, step.pick+uint64(i))
			if err != nil {
				s.fault("%v", err)
				return
			}
			r = study.Request{Action: study.ActionEnqueue, Values: v}
			s.enqueued = append(s.enqueued, v)
		case 2:
			r = study.Request{Action: study.ActionRerun, Rerun: []int{r.Trial}}
			s.rerun[r.Rerun[0]] = true
		}
		if _, err := inbox.Leave(layout.Study(s.dir), r); err != nil {
			s.fault("%v: %v", step, err)
		}
		select {
		case <-time.After(time.Duration(step.n) * 20 * time.Millisecond):
		case <-over:
			return
		}
	}
}

// takenBack is a request that some failures be taken back, or all of them.
func (s *simulation) takenBack(st *study.State, pick uint64) study.Request {
	r := study.Request{Action: study.ActionRerun, Rerun: st.Failed()}
	if n := len(r.Rerun); n > 0 && pick%2 == 0 {
		r.Rerun = r.Rerun[:1+pick/2%uint64(n)]
	}
	for _, n := range r.Rerun {
		s.rerun[n] = true
	}
	return r
}

// allowed is an error unless it says one of some words.
func allowed(err error, words ...string) error {
	if err != nil && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(err.Error(), w) }) {
		return nil
	}
	return err
}
