package pruner

import (
	"maps"
	"slices"
)

// Scheduler is ASHA with promotions (Li et al. 2020, algorithm 2). Every trial
// is first run with the resource of rung 0. Whenever a worker is free, the best
// trial that is among the best ⌊n/η⌋ of the n results of some rung, and was not
// promoted from there, is continued on the rung above; the highest such rung
// comes first. If there is none a new trial is started.
//
// When no new trial may be started, what is owed is still promoted. After that,
// and once nothing runs any more, the best trial of the highest rung is promoted
// until one has had the whole resource: a study that is too small to fill the
// upper rungs must not end without having trained its best trial to the end.
//
// It is not safe for concurrent use.
type Scheduler struct {
	resources []int
	reduction float64
	rungs     [][]result  // the results of each rung, best first, then in their order
	running   map[int]int // trial, rung
}

// result is what a trial achieved on one rung.
type result struct {
	trial    int
	value    float64
	promoted bool
}

// Job is a run of one trial on one rung.
type Job struct {
	// Trial is the trial to continue, 0 for a new one.
	Trial int
	// Rung counts from 0.
	Rung int
	// Resource is the value of the resource parameter: in total, what earlier
	// rungs have used included.
	Resource int
}

// NewScheduler returns a scheduler that has seen no trial yet.
func NewScheduler(l Ladder) (*Scheduler, error) {
	resources, err := l.Rungs()
	if err != nil {
		return nil, err
	}
	return &Scheduler{
		resources: resources,
		reduction: l.Reduction,
		rungs:     make([][]result, len(resources)),
		running:   map[int]int{},
	}, nil
}

// Next says what a free worker should do; open says whether a new trial may be
// started. Without a job the worker waits while any other is running, and if
// none is, all is done. Next changes nothing: the caller takes up a job by
// Begin.
func (s *Scheduler) Next(open bool) (Job, bool) {
	top := len(s.rungs) - 1
	for k := top - 1; k >= 0; k-- {
		n := int(float64(len(s.rungs[k])) / s.reduction)
		for _, r := range s.rungs[k][:n] {
			if !r.promoted {
				return s.job(r.trial, k+1), true
			}
		}
	}
	switch {
	case open:
		return s.job(0, 0), true
	case len(s.running) > 0:
		return Job{}, false
	}
	k := top
	for k >= 0 && len(s.rungs[k]) == 0 {
		k--
	}
	if k < 0 || k == top {
		return Job{}, false
	}
	return s.job(s.rungs[k][0].trial, k+1), true
}

func (s *Scheduler) job(trial, rung int) Job {
	return Job{Trial: trial, Rung: rung, Resource: s.resources[rung]}
}

// Begin says that a trial, which has a number now, is run on a rung.
func (s *Scheduler) Begin(trial, rung int) {
	s.running[trial] = rung
	if rung == 0 {
		return
	}
	below := s.rungs[rung-1]
	if i := find(below, trial); i >= 0 {
		below[i].promoted = true
	}
}

// End says with what value the run of a trial has ended. A value that is not
// finite is a failure: use Forget.
func (s *Scheduler) End(trial int, value float64) {
	k, ok := s.running[trial]
	if !ok {
		return
	}
	delete(s.running, trial)
	i := slices.IndexFunc(s.rungs[k], func(r result) bool { return r.value < value })
	if i < 0 {
		i = len(s.rungs[k])
	}
	s.rungs[k] = slices.Insert(s.rungs[k], i, result{trial: trial, value: value})
}

// Forget takes a trial out, which has failed or was excluded, and all that it
// achieved.
func (s *Scheduler) Forget(trial int) {
	delete(s.running, trial)
	for k, rung := range s.rungs {
		if i := find(rung, trial); i >= 0 {
			s.rungs[k] = slices.Delete(rung, i, i+1)
		}
	}
}

// Running lists the trials that are being run, by number.
func (s *Scheduler) Running() []int { return slices.Sorted(maps.Keys(s.running)) }

// Resources returns the resource of each rung.
func (s *Scheduler) Resources() []int { return slices.Clone(s.resources) }

func find(rung []result, trial int) int {
	return slices.IndexFunc(rung, func(r result) bool { return r.trial == trial })
}
