package study

import (
	"context"
	"fmt"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// Replayed is the outcome of a replay.
type Replayed struct {
	Asked       int          `json:"asked"`
	Given       int          `json:"given"` // by hand, or continued: nobody was asked for them
	Differences []Difference `json:"differences"`
}

// Difference is a proposal that came out otherwise.
type Difference struct {
	Trial   int           `json:"trial"`
	Journal spaces.Values `json:"journal"`
	Replay  spaces.Values `json:"replay"`
}

// Replay asks a new optimizer for every proposal of the journal in dir, with
// what its first optimizer knew at the time, and compares the answers. They are
// equal on the kind of machine that ran the study. A nil make is
// optimizer.New.
func Replay(ctx context.Context, dir string, make func(*spaces.Space, uint64, optimizer.Settings) (optimizer.Optimizer, error)) (Replayed, error) {
	if make == nil {
		make = optimizer.New
	}
	r := replay{state: &State{}, make: make, out: Replayed{Differences: []Difference{}}}
	path := Layout(dir).Journal()
	_, err := journal.Read(path, func(line journal.Record) error {
		rec, err := decode(line)
		if err == nil {
			err = r.before(ctx, rec.Event)
		}
		if err == nil {
			err = r.state.fold(line, rec)
		}
		return err
	})
	return r.out, named(err, path)
}

type replay struct {
	state *State
	make  func(*spaces.Space, uint64, optimizer.Settings) (optimizer.Optimizer, error)
	opt   optimizer.Optimizer // nil when the next proposal needs a new one
	told  int
	out   Replayed
}

// before looks at an event before it is part of the state.
func (r *replay) before(ctx context.Context, e Event) error {
	switch e := e.(type) {
	case Session:
		// A session begins with a new optimizer, which is told of exclusions.
		r.opt, r.told = nil, 0
	case Proposed:
		if e.Origin == optimizer.OriginGiven || e.Continues > 0 {
			r.out.Given++
			return nil
		}
		return r.ask(ctx, e)
	}
	return nil
}

func (r *replay) ask(ctx context.Context, e Proposed) error {
	if r.opt == nil {
		opt, err := r.make(r.state.search.Space, r.state.Config.Seed, r.state.search.Settings)
		if err != nil {
			return err
		}
		r.opt = opt
	}
	q := question{query: optimizer.Query{Trial: e.Trial}, known: r.state.known()}
	for ; r.told < e.Told; r.told++ {
		if t := r.state.Trials[r.state.Order[r.told]-1]; t.teaches() {
			q.tell = append(q.tell, r.state.Observation(t))
		}
	}
	for _, n := range e.Pending {
		t, err := r.state.trial(n)
		if err != nil {
			return err
		}
		q.query.Pending = append(q.query.Pending, optimizer.Pending{Trial: n, Point: t.Point})
	}
	p, err := answer(ctx, r.opt, q)
	if err != nil {
		return fmt.Errorf("replay trial %d: %w", e.Trial, err)
	}
	r.out.Asked++
	if got := r.state.fresh(r.state.search.Decode(p.Point)); !got.Equal(e.Values) {
		r.out.Differences = append(r.out.Differences, Difference{e.Trial, e.Values, got})
	}
	return nil
}
