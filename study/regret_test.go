package study_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// What is left to gain ends a study once three proposals in a row, each after another result,
// leave no more than is tolerated; of what was gained, if that is a share.
func TestRegretEnding(t *testing.T) {
	nothing := -4.0
	note := func(left float64) optimizer.Note {
		if left == 0 {
			return optimizer.Note{}
		}
		left = max(left, 0)
		return optimizer.Note{Left: &left}
	}
	const together optimizer.Origin = "together"
	given, taken, with := -1.0, -2.0, -3.0
	for name, c := range map[string]struct {
		regret, share float64
		lefts         []float64 // those of the proposals, 0 where nothing is known; the last one is not made
		want          string
	}{
		"three agree":            {regret: 0.5, lefts: []float64{0.25, 0.125, 0.5}, want: "at most 0.5 (25 %) is left to gain by the model, with 95 %"},
		"of a share":             {share: 0.25, lefts: []float64{0.25, 0.125, 0.5}, want: "at most 0.5 (25 %) is left to gain by the model, with 95 %"},
		"two agree":              {regret: 0.5, lefts: []float64{0.25, 0.125}},
		"one leaves more":        {regret: 0.5, lefts: []float64{0.25, 0.75, 0.125}},
		"one does not know":      {regret: 0.5, lefts: []float64{0.25, 0, 0.125, 0.125}},
		"the last does not know": {regret: 0.5, lefts: []float64{0.25, 0.25, 0.25, 0}},
		"before":                 {regret: 0.5, lefts: []float64{0, 0.25, 0.125, 0.125}, want: "at most 0.25 (12.5 %) is left to gain by the model, with 95 %"},
		"beside an enqueued one": {regret: 0.5, lefts: []float64{0.25, 0.25, given, 0.25}, want: "at most 0.25 (12.5 %) is left to gain by the model, with 95 %"},
		"one has explored":       {regret: 0.5, lefts: []float64{0.25, 0.25, 0.25, 0.25}},
		"made with others":       {regret: 0.5, lefts: []float64{0.25, with, 0.125, with, 0.5}, want: "at most 0.5 (25 %) is left to gain by the model, with 95 %"},
		"one was taken out":      {regret: 0.5, lefts: []float64{0.25, 0.25, taken, 0.25, 0.25}},
		"and three since":        {regret: 0.5, lefts: []float64{0.5, 0.25, taken, 0.25, 0.25, 0.25}, want: "at most 0.25 (25 %) is left to gain by the model, with 95 %"},
		"nothing is left":        {regret: 0.5, lefts: []float64{nothing, nothing, nothing}, want: "at most 0 (0 %) is left to gain by the model, with 95 %"},
		"nobody asks":            {lefts: []float64{0.25, 0.25, 0.25}},
		"nobody asks any more":   {lefts: []float64{nothing, nothing, nothing}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			cfg.Budget.Regret, cfg.Budget.RegretShare = c.regret, c.share
			st := begun(t, cfg)
			end := func(n int, loss float64) {
				apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": loss}})
			}
			propose := func(origin optimizer.Origin, note optimizer.Note) int {
				n := len(st.Trials) + 1
				p := study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: origin, Values: values(float64(n)/100, 3), Note: note}
				if origin == together {
					p.Origin, p.With, p.Told = optimizer.OriginModel, n-1, len(st.Order)-1
				}
				apply(t, st, p)
				return n
			}
			for _, loss := range []float64{9, 3} { // with that of begun and what explores, 3 is typical
				end(propose(optimizer.OriginInitial, optimizer.Note{}), loss)
			}
			end(propose(optimizer.OriginExplore, optimizer.Note{}), 8)
			if name != "one has explored" {
				end(propose(optimizer.OriginExplore, optimizer.Note{}), 2)
			}
			for _, left := range c.lefts[:len(c.lefts)-1] {
				origin := optimizer.OriginModel
				if left == taken {
					apply(t, st, study.Excluded{Trial: 2})
					continue
				}
				if left == with {
					origin, left = together, 0
				}
				if left == given {
					origin, left = optimizer.OriginGiven, 0
				}
				end(propose(origin, note(left)), 1)
			}
			got := ""
			if e := st.GapEnding(note(c.lefts[len(c.lefts)-1])); e != nil {
				got = e.Detail
				if e.Why != "regret" {
					t.Errorf("ended by %q", e.Why)
				}
			}
			if got != c.want {
				t.Errorf("%q; want %q", got, c.want)
			}
			apply(t, st, study.Closed{Why: study.EndTrials})
			const left = "by the model more may be left to gain than regret of [budget] allows"
			if said := slices.Contains(st.Remarks(), left); said != (c.regret+c.share > 0) {
				t.Errorf("the remarks of a study that has ended otherwise are %q; want %q", st.Remarks(), left)
			}
			// Of proposals that know the same results, as of several workers, one counts.
			if st.Config.Budget.Regret > 0 {
				st := begun(t, cfg)
				for range 3 {
					n := len(st.Trials) + 1
					apply(t, st, study.Proposed{Trial: n, Told: 0, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(float64(n)/100, 3), Note: note(0.1)})
				}
				if e := st.GapEnding(note(0.1)); e != nil {
					t.Errorf("one result ends the study: %q", e.Detail)
				}
			}
		})
	}
}

// What was left over a result that counts no more, or in other ranges, ends no study.
func TestRegretBesideWhatIsGone(t *testing.T) {
	widened := func(st *study.State) study.Event {
		c := st.Config
		c.Params = slices.Clone(c.Params)
		c.Params[0].Max *= 2
		return study.ConfigChanged{Config: c}
	}
	for name, c := range map[string]struct {
		event func(*study.State) study.Event
		ends  bool
	}{
		"nothing":  {func(*study.State) study.Event { return study.Noted{Text: "well"} }, true},
		"the best": {func(*study.State) study.Event { return study.Excluded{Trial: 6} }, false},
		"a range":  {widened, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			cfg.Budget.Regret = 0.5
			st, left := begun(t, cfg), 0.25
			try := func(origin optimizer.Origin, loss float64, note optimizer.Note) {
				n := len(st.Trials) + 1
				apply(t, st, study.Proposed{Trial: n, Told: len(st.Order), Pending: []int{}, Origin: origin, Values: values(float64(n)/100, 3), Note: note})
				apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": loss}})
			}
			for range 4 {
				try(optimizer.OriginExplore, 9, optimizer.Note{})
			}
			for _, loss := range []float64{-7, 1} {
				try(optimizer.OriginModel, loss, optimizer.Note{Left: &left})
			}
			apply(t, st, c.event(st))
			for k := range 2 {
				if end := st.GapEnding(optimizer.Note{Left: &left}); (end != nil) != c.ends {
					t.Errorf("%s: after %d more, ended by %+v", name, k, end)
				}
				try(optimizer.OriginModel, 2, optimizer.Note{Left: &left})
			}
			end := st.GapEnding(optimizer.Note{Left: &left})
			if end == nil {
				t.Fatalf("%s: three have agreed since", name)
			}
			if apply(t, st, *end); !st.Ended() {
				t.Errorf("%s: it has ended, and goes on", name)
			}
			if apply(t, st, study.Excluded{Trial: st.Best().Number}); st.Ended() {
				t.Errorf("%s: it has ended by a result that was taken out", name)
			}
		})
	}
}

// Two trials disprove a stated Lipschitz constant, whichever of them is the last: nothing is certain
// any more, until one of them is taken out.
func TestRefutedConstant(t *testing.T) {
	cfg := config()
	cfg.Optimizer.LipschitzConstant, cfg.Budget.Gap = 10, 0.5
	st, gap := begun(t, cfg), 0.25
	note := optimizer.Note{Lipschitz: &optimizer.LipschitzNote{Gap: &gap, Stated: true}}
	try := func(x, loss float64) {
		n := len(st.Trials) + 1
		apply(t, st, study.Proposed{Trial: n, Told: 1, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(x, 4), Note: note})
		apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": loss}})
	}
	try(0.25, 3)
	if st.Refuted != "" || st.GapEnding(note) == nil {
		t.Errorf("refuted: %q", st.Refuted)
	}
	try(0.26, 30)
	const want = "lipschitz_constant = 10 does not hold: loss is 2 in trial 1 and 30 in trial 3, "
	if !strings.HasPrefix(st.Refuted, want) || !slices.Contains(st.Remarks(), st.Refuted) || st.GapEnding(note) != nil {
		t.Errorf("refuted: %q; want %q; the remarks are %q", st.Refuted, want, st.Remarks())
	}
	if apply(t, st, study.Excluded{Trial: 3}); st.Refuted != "" {
		t.Errorf("without that trial: %q", st.Refuted)
	}
}

// A constant beside a training budget is refused, and of a study that has begun with both nothing
// that follows from it is believed.
func TestConstantBesideAResource(t *testing.T) {
	cfg := config()
	cfg.Optimizer.LipschitzConstant, cfg.Budget.Gap = 10, 0.5
	cfg.Prune = &study.Prune{Method: "asha", Resource: "n", MinResource: 1, Reduction: 3}
	if err := cfg.Validate(); err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), "optimizer.lipschitz_constant: says nothing of what is left to gain beside the training budget n") {
		t.Errorf("validated with %v", err)
	}
	gap := 0.25
	note := optimizer.Note{Lipschitz: &optimizer.LipschitzNote{Gap: &gap, Stated: true}}
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Config: cfg})
	p, more := st.Unasked(false)
	if !more {
		p = study.Proposed{Origin: optimizer.OriginModel, Values: st.Search.Decode(spaces.Point{0.5, 0})}
	}
	p.Trial, p.Note = 1, note
	apply(t, st, p)
	apply(t, st, study.Finished{Trial: 1, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": 2, "size": 1}})
	if end := st.GapEnding(note); end != nil || !strings.Contains(st.Refuted, `beside resource = "n"`) {
		t.Errorf("it ends with %+v; refuted: %q", end, st.Refuted)
	}
}

// Where nothing has succeeded nothing can be left to gain over the best.
func TestNothingLeftAndNoBest(t *testing.T) {
	cfg, left := config(), 0.0
	cfg.Budget.Regret = 1
	st := &study.State{}
	apply(t, st, study.Created{ID: "id", Config: cfg})
	note := optimizer.Note{Left: &left}
	for n := 1; n <= 4; n++ {
		apply(t, st, study.Proposed{Trial: n, Told: n - 1, Pending: []int{}, Origin: optimizer.OriginModel, Values: values(0.1*float64(n), 4), Note: note})
		apply(t, st, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Failed, Failure: &study.Failure{Kind: study.FailExit, Code: 1, Text: "exit code 1"}})
	}
	if end := st.GapEnding(note); end != nil {
		t.Errorf("it ends with %+v", end)
	}
}
