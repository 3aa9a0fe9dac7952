package main

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/internal/pareto"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// job is one run of one variant on one objective.
type job struct {
	variant   string
	settings  optimizer.Settings
	command   string // of another optimizer that runs in place of ours
	printed   *printed
	earlier   earlierStudies
	objective problems.Objective
	seed      int
	evals     int
	workers   int     // simulated asynchronous workers; 1 is sequential
	clock     float64 // seconds after which it ends; 0 if evals says when
}

// point is one evaluation of a run. Y is noiseless, +Inf for a failed trial.
type point struct {
	I      int
	Y      float64
	Best   float64
	Sec    float64 // spent in this ask and tell
	Origin optimizer.Origin
}

// running is a simulated trial that ends at a time of its own.
type running struct {
	end      float64
	trial    int
	proposal optimizer.Proposal
}

type byEnd []running

func (h byEnd) Len() int           { return len(h) }
func (h byEnd) Less(i, j int) bool { return h[i].end < h[j].end }
func (h byEnd) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byEnd) Push(x any)        { *h = append(*h, x.(running)) }
func (h *byEnd) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// session drives one optimizer through ask and tell as a study does.
type session struct {
	job              job
	opt              optimizer.Optimizer
	clock            float64
	rng              *rand.Rand // durations of simulated trials
	active           byEnd
	points           []point
	values           map[int]spaces.Values // what was run, by trial
	best             float64
	lowest, luckiest float64     // the best value that was seen, and it without its noise
	front            [][]float64 // of several objectives: what was told
	carry            float64     // seconds of asks since the last evaluation was recorded
}

// run evaluates the job's objective until its budget is spent or the space is
// exhausted.
func (j job) run(ctx context.Context) (run, error) {
	var earlier []optimizer.Earlier
	var err error
	if j.earlier != nil {
		earlier, err = j.earlier(ctx, j)
	}
	var opt optimizer.Optimizer
	switch {
	case err != nil:
	case j.command != "":
		var p *peer
		if p, err = startPeer(ctx, j); err == nil {
			defer p.end()
			opt = p
		}
	case j.printed != nil:
		opt, err = j.printed.optimizer(j.objective.Space, uint64(j.seed), j.settings)
	default:
		opt, err = optimizer.New(j.objective.Space, uint64(j.seed), j.settings, earlier...)
	}
	if err != nil {
		return run{}, fmt.Errorf("%s on %s: %w", j.variant, j.objective.Name, err)
	}
	if j.clock > 0 {
		return j.against(ctx, opt)
	}
	r := &session{job: j, opt: opt, best: math.Inf(1), lowest: math.Inf(1), luckiest: math.Inf(1), values: map[int]spaces.Values{}, rng: stream(uint64(j.seed))}
	trial := 0
	for len(r.points) < j.evals {
		for trial < j.evals && len(r.active) < max(j.workers, 1) {
			err := r.launch(ctx, trial+1)
			if errors.Is(err, optimizer.ErrExhausted) {
				break
			}
			if err != nil {
				return run{}, fmt.Errorf("%s on %s, seed %d, trial %d: %w", j.variant, j.objective.Name, j.seed, trial+1, err)
			}
			trial++
		}
		if len(r.active) == 0 {
			break
		}
		if err := r.finish(); err != nil {
			return run{}, fmt.Errorf("%s on %s, seed %d: %w", j.variant, j.objective.Name, j.seed, err)
		}
	}
	return run{points: r.points, recommended: r.recommended(ctx), found: r.found()}, nil
}

func (r *session) launch(ctx context.Context, trial int) error {
	q := optimizer.Query{Trial: trial}
	for _, a := range sortedByTrial(r.active) {
		q.Pending = append(q.Pending, optimizer.Pending{Trial: a.trial, Point: a.proposal.Point})
	}
	start := time.Now()
	p, err := r.opt.Ask(ctx, q)
	if err != nil {
		return err
	}
	heap.Push(&r.active, running{end: r.clock + r.rng.ExpFloat64() + 0.5, trial: trial, proposal: p})
	r.carry += time.Since(start).Seconds()
	return nil
}

func sortedByTrial(h byEnd) []running {
	out := slices.Clone(h)
	slices.SortFunc(out, func(a, b running) int { return a.trial - b.trial })
	return out
}

func (r *session) finish() error {
	done := heap.Pop(&r.active).(running)
	r.clock = done.end
	values := r.job.objective.Space.Decode(done.proposal.Point)
	seen, ok := r.job.objective.Observe(values, uint64(done.trial))
	o := optimizer.Observation{Trial: done.trial, Proposal: done.proposal, Status: optimizer.Failed}
	r.values[done.trial] = values
	y := math.Inf(1)
	if ok {
		o.Status, o.Values = optimizer.Succeeded, []float64{-seen}
		y = r.score(values, &o)
	}
	start := time.Now()
	if err := r.opt.Tell(o); err != nil {
		return fmt.Errorf("tell trial %d: %w", done.trial, err)
	}
	r.best = math.Min(r.best, y)
	if ok && seen < r.lowest {
		r.lowest, r.luckiest = seen, y
	}
	r.points = append(r.points, point{
		I: len(r.points) + 1, Y: y, Best: r.best,
		Sec: r.carry + time.Since(start).Seconds(), Origin: done.proposal.Origin,
	})
	r.carry = 0
	return nil
}

// found is what a later study would learn of.
func (r *session) found() (e optimizer.Earlier) {
	for k := 1; k <= len(r.points); k++ {
		p, err := r.job.objective.Space.Encode(r.values[k])
		if err == nil {
			e.Points, e.Values = append(e.Points, p), append(e.Values, -r.job.objective.Eval(r.values[k]))
		}
	}
	return e
}

// score is what a trial that succeeded is worth, without noise: its value, +Inf if it
// breaks a limit, and of several objectives minus the share of the front's volume that all
// trials so far dominate. It completes what the optimizer is told.
func (r *session) score(v spaces.Values, o *optimizer.Observation) float64 {
	problem := r.job.objective
	if problem.Over != nil {
		o.Constraints = problem.Over(v)
		if slices.Max(o.Constraints) > 0 {
			return math.Inf(1)
		}
	}
	if problem.Outputs == nil {
		return problem.Eval(v)
	}
	o.Values = negated(problem.Outputs(v))
	r.front = append(r.front, o.Values)
	return -pareto.Volume(r.front, negated(problem.Reference)) / problem.Whole
}

func negated(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// recommended is what the optimizer recommends at the end, and the luckiest trial where it
// recommends none.
func (r *session) recommended(ctx context.Context) choice {
	luckiest := choice{value: r.luckiest, mean: r.luckiest}
	rec, ok := r.opt.(optimizer.Recommender)
	if !ok {
		return luckiest
	}
	got, err := rec.Recommend(ctx)
	if err != nil {
		return luckiest
	}
	return choice{r.job.objective.Eval(r.values[got.Trial]), -got.Mean, got.SD}
}

// stream is a random stream for one seed.
func stream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x77)) }
