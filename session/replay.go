package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Replayed is the outcome of a replay.
type Replayed struct {
	Asked       int          `json:"asked"`
	Given       int          `json:"given"` // by hand, today's values, or continued: nobody was asked for them
	Differences []difference `json:"differences"`
	// Elsewhere are the kinds of processors, other than this one, that proposals were made on
	// which differ: there the last digits of the model are others.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// difference is a proposal that came out otherwise.
type difference struct {
	Trial   int           `json:"trial"`
	Journal spaces.Values `json:"journal"`
	Replay  spaces.Values `json:"replay"`
}

// Replay asks a new optimizer for every proposal of the journal in dir, with
// what its first optimizer knew at the time, and compares the answers. They are
// equal on the kind of machine that ran the study. A nil newOptimizer is
// optimizer.New; where it returns no optimizer, the proposal is passed over. Visits are as those of
// study.Load.
func Replay(ctx context.Context, dir string, newOptimizer func(*spaces.Space, uint64, optimizer.Settings, ...optimizer.Earlier) (optimizer.Optimizer, error),
	visits ...func(before *study.State, r study.Record) error) (Replayed, error) {
	if newOptimizer == nil {
		newOptimizer = optimizer.New
	}
	r := replay{make: newOptimizer, out: Replayed{Differences: []difference{}}}
	_, err := study.Load(dir, append(visits, func(before *study.State, rec study.Record) error {
		r.state = before
		return r.before(ctx, rec.Event)
	})...)
	return r.out, err
}

type replay struct {
	state *study.State // before the event
	make  func(*spaces.Space, uint64, optimizer.Settings, ...optimizer.Earlier) (optimizer.Optimizer, error)
	opt   optimizer.Optimizer // nil when the next proposal needs a new one
	told  int
	where string // the kind of processor of the session
	out   Replayed
}

// before looks at an event before it is part of the state.
func (r *replay) before(ctx context.Context, e study.Event) error {
	switch e := e.(type) {
	case study.Session:
		r.opt, r.told, r.where = nil, 0, e.Kernel
	case study.Excluded, study.Included, study.Rerun:
		// Then there is a new optimizer, which is told nothing of what is excluded.
		r.opt, r.told = nil, 0
	case study.Proposed:
		if r.state.Search == nil || e.Told > len(r.state.Order) {
			return nil // the state will say what is wrong
		}
		if e.Origin == optimizer.OriginGiven || e.Origin == optimizer.OriginDefault || e.Continues > 0 {
			r.out.Given++
			return nil
		}
		if e.With > 0 {
			return r.more(ctx, e)
		}
		return r.ask(ctx, e)
	}
	return nil
}

func (r *replay) ask(ctx context.Context, e study.Proposed) error {
	if r.opt == nil {
		opt, err := r.make(r.state.Search.Space, r.state.Config.Seed, r.state.Search.Settings, r.state.Inherited()...)
		if err != nil || opt == nil {
			return err
		}
		r.opt = opt
	}
	q := question{query: r.state.Query(e.Trial), known: r.state.Known()}
	for ; r.told < e.Told; r.told++ {
		if t := r.state.Trials[r.state.Order[r.told]-1]; t.Teaches() {
			q.tell = append(q.tell, r.state.Observation(t))
		}
	}
	q.query.Pending = nil
	for _, n := range e.Pending {
		t, err := r.state.Trial(n)
		if err != nil {
			return err
		}
		q.query.Pending = append(q.query.Pending, optimizer.Pending{Trial: n, Point: t.Point})
	}
	a := answer(ctx, r.opt, q)
	if a.err != nil {
		return fmt.Errorf("replay trial %d: %w", e.Trial, a.err)
	}
	r.compare(e, a.proposals[0])
	return nil
}

// more asks for a proposal that was made with that of another trial, the last that was asked for; alone
// where today's optimizer makes none so.
func (r *replay) more(ctx context.Context, e study.Proposed) error {
	if b, ok := r.opt.(optimizer.Batcher); ok {
		p, err := b.More(ctx, e.Trial)
		if err == nil {
			r.compare(e, p)
			return nil
		}
		if !errors.Is(err, optimizer.ErrNoMore) {
			return fmt.Errorf("replay trial %d: %w", e.Trial, err)
		}
	}
	return r.ask(ctx, e)
}

func (r *replay) compare(e study.Proposed, p optimizer.Proposal) {
	r.out.Asked++
	proposed := r.state.Search.Decode(p.Point) // which some versions would have run as it is: see study.Fresh
	if got := r.state.Fresh(proposed); !got.Equal(e.Values) && !proposed.Equal(e.Values) {
		r.out.Differences = append(r.out.Differences, difference{e.Trial, e.Values, got})
		if here := optimizer.Kernel(); r.where != "" && r.where != here && !slices.Contains(r.out.Elsewhere, r.where) {
			r.out.Elsewhere = append(r.out.Elsewhere, r.where)
		}
	}
}
