package session_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/study"
)

// simPlan is all that a simulation does, but for what the scheduler of goroutines decides.
type simPlan struct {
	seed   uint64
	config study.Config
	prints int  // lines of each attempt
	bad    int  // per cent of attempts that fail, the same again that print nothing, or hang
	moody  bool // attempts at the same may differ
	// timeout says that attempts may hang.
	timeout bool
	shares  bool // its slots with other studies
	steps   []simStep

	// Of a plan that was drawn with settings: their names, the spec, and what wrote it.
	settings []string
	text     string
	sheet    *simSheet
	tally    *simTally // of what has come to pass in the studies of a test
}

// simStep is a session that is disturbed, or something that is done between two.
type simStep struct {
	kind string
	at   time.Duration // after the session's start
	n    int           // operation on the journal, or trial
	pick uint64        // one of the states that a power cut may leave
}

func (s simStep) String() string {
	return fmt.Sprintf("%s(at %v, n %d, pick %d)", s.kind, s.at, s.n, s.pick)
}

// The kinds of steps: deaths of lbotune and cuts of the machine's power, at a time or an
// operation; an operation that fails once; stops; and what people do in between.
var simKinds = []string{"kill", "killAtOp", "power", "powerAtOp", "fault", "stop1", "stop2", "stop3", "leave",
	"enqueue", "exclude", "include", "note", "more", "workers", "ask", "tell"}

func hashOf(seed uint64, text string) uint64 {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, seed)
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

// newSimPlan draws a plan.
func newSimPlan(seed uint64) *simPlan {
	rng := rand.New(rand.NewPCG(seed, 0))
	chance := func(percent int) bool { return rng.IntN(100) < percent }
	p := &simPlan{seed: seed, prints: 1, bad: rng.IntN(12), moody: chance(30)}
	c := config()
	c.Seed = seed
	c.Budget.Trials = 2 + rng.IntN(9)
	c.Run.Workers = 1 + max(0, rng.IntN(6)-2)
	c.Run.FailureGuard = []int{-1, 3}[rng.IntN(2)]
	if chance(40) {
		c.Run.Retries = 1 + rng.IntN(2)
	}
	if chance(25) {
		c.Run.Repeats, c.Run.Combine = 2+rng.IntN(2), []string{"mean", "median"}[rng.IntN(2)]
	}
	if chance(25) {
		c.Run.Confirm = 2
	}
	if chance(15) {
		c.Setup = "true"
	}
	if chance(30) {
		c.Run.Timeout, p.timeout = study.Duration(20*time.Second), true
	}
	if chance(10) {
		c.Budget.Patience = 3
	}
	if chance(10) {
		c.Budget.Time = study.Duration(10 * time.Second)
	}
	if chance(40) {
		p.prints = 2 + rng.IntN(6)
	}
	switch rng.IntN(8) {
	case 0:
		c.Prune = &study.Prune{Method: "median", MinTrials: 2}
	case 1:
		c.Prune = &study.Prune{Method: "patience", Patience: 2}
	case 2:
		c.Prune = &study.Prune{Method: "asha", MinResource: 1, Reduction: 2}
	case 3:
		c.Prune = &study.Prune{Method: "asha", MinResource: 1, Reduction: 2, Resource: "n"}
	}
	p.config = c
	for range rng.IntN(7) {
		p.steps = append(p.steps, simStep{kind: simKinds[rng.IntN(len(simKinds))],
			at: time.Duration(rng.Int64N(int64(15 * time.Second))), n: 1 + rng.IntN(40), pick: rng.Uint64()})
	}
	p.driven()
	return p
}

// driven has every third study driven by a program now and then, which reports its readings. It draws from numbers
// of its own: all else that a seed stands for stays.
func (p *simPlan) driven() {
	rng := rand.New(rand.NewPCG(p.seed, 3))
	if rng.IntN(3) > 0 || slices.Contains(formerFaults, p.seed) {
		return
	}
	if p.config.Prune == nil {
		p.config.Prune = []*study.Prune{nil, {Method: "median", MinTrials: 1}, {Method: "patience", Patience: 2},
			{Method: "asha", MinResource: 1, Reduction: 2}}[rng.IntN(4)]
	}
	for range 1 + rng.IntN(3) {
		step := simStep{kind: driveKinds[rng.IntN(len(driveKinds))], n: 1 + rng.IntN(60), pick: rng.Uint64()}
		p.steps = slices.Insert(p.steps, rng.IntN(len(p.steps)+1), step)
	}
}

// has reports whether one of the steps is of one of the kinds.
func (p *simPlan) has(kinds ...string) bool {
	return slices.ContainsFunc(p.steps, func(s simStep) bool { return slices.Contains(kinds, s.kind) })
}

// most is how many attempts may live at once.
func (p *simPlan) most() int {
	n := p.config.Run.Workers
	for _, s := range p.steps {
		if s.kind == "workers" || s.kind == "steer" {
			n = max(n, s.workers())
		}
	}
	return n
}

// workers is what the step sets them to.
func (s simStep) workers() int { return 1 + s.n%4 }

// repeatable reports whether the same study without disturbance must be equal to this one. Where
// trials are stopped early it need not be, for one whose lbotune is dead may come to its end, nor
// with a guard that begins anew in each session, nor where the time of what is cut short counts.
func (p *simPlan) repeatable() bool {
	if p.sheet != nil && (p.config.Run.FailureGuard > 0 || p.config.Prunes() || slices.ContainsFunc(p.config.Metrics, study.Metric.StopsEarly)) {
		return false
	}
	if p.config.Prunes() && p.has("leave") {
		return false
	}
	return p.config.Run.Workers == 1 && !p.moody && p.config.Budget.Limit() == 0 && p.config.Budget.WorkerTime == 0 &&
		!p.has("enqueue", "exclude", "include", "more", "workers", "ask", "tell", "try", "narrow", "widen", "steer", "rerun", "respec", "beside") && !p.drives()
}

// simpler returns plans that are a bit simpler.
func (p *simPlan) simpler() []*simPlan {
	var out []*simPlan
	change := func(f func(*simPlan)) {
		q := *p
		q.steps = slices.Clone(p.steps)
		f(&q)
		out = append(out, &q)
	}
	for i := range p.steps {
		change(func(q *simPlan) { q.steps = slices.Delete(q.steps, i, i+1) })
	}
	for i := range p.settings {
		if q, err := drawnPlan(slices.Delete(slices.Clone(p.settings), i, i+1), p.seed); err == nil {
			out = append(out, q)
		}
	}
	if p.config.Budget.Trials > 1 {
		change(func(q *simPlan) { q.config.Budget.Trials /= 2 })
		change(func(q *simPlan) { q.config.Budget.Trials-- })
	}
	if p.config.Run.Workers > 1 {
		change(func(q *simPlan) { q.config.Run.Workers-- })
	}
	for i := range p.steps {
		if p.steps[i].n > 1 {
			change(func(q *simPlan) { q.steps[i].n-- })
		}
	}
	if p.config.Run.Retries > 0 {
		change(func(q *simPlan) { q.config.Run.Retries = 0 })
	}
	if p.config.Run.Repeats > 1 {
		change(func(q *simPlan) { q.config.Run.Repeats = 0 })
	}
	if p.config.Run.Confirm > 0 {
		change(func(q *simPlan) { q.config.Run.Confirm = 0 })
	}
	if p.config.Setup != "" {
		change(func(q *simPlan) { q.config.Setup = "" })
	}
	if p.config.Prune != nil {
		change(func(q *simPlan) { q.config.Prune = nil })
	}
	if p.config.Budget.Patience > 0 {
		change(func(q *simPlan) { q.config.Budget.Patience = 0 })
	}
	if p.config.Budget.Time > 0 {
		change(func(q *simPlan) { q.config.Budget.Time = 0 })
	}
	if p.prints > 1 {
		change(func(q *simPlan) { q.prints = 1 })
	}
	if p.bad > 0 {
		change(func(q *simPlan) { q.bad = 0 })
	}
	if p.moody {
		change(func(q *simPlan) { q.moody = false })
	}
	return out
}

func (p *simPlan) String() string {
	var b strings.Builder
	c := p.config
	fmt.Fprintf(&b, "seed %d: %d trials, %d workers, retries %d, repeats %d, confirm %d, guard %d, setup %q, timeout %v, prune %+v, patience %d, time %v, prints %d, bad %d %%, moody %v",
		p.seed, c.Budget.Trials, c.Run.Workers, c.Run.Retries, c.Run.Repeats, c.Run.Confirm, c.Run.FailureGuard, c.Setup, p.timeout, c.Prune,
		c.Budget.Patience, c.Budget.Time, p.prints, p.bad, p.moody)
	for _, s := range p.steps {
		fmt.Fprintf(&b, "\n  %v", s)
	}
	if p.sheet != nil {
		fmt.Fprintf(&b, "\nsettings %s; the spec before it was made simpler:\n%s", strings.Join(p.settings, ", "), p.text)
	}
	return b.String()
}
