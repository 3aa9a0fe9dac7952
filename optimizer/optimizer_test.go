package optimizer_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

func TestContract(t *testing.T) {
	for name, c := range map[string]struct {
		trials   int
		settings optimizer.Settings
	}{
		"random":    {60, optimizer.Settings{Method: "random"}},
		"sobol":     {60, optimizer.Settings{Method: "sobol"}},
		"lipschitz": {effort.Sequential(20, effort.Daily(20, 40), 40), optimizer.Settings{Method: "lipschitz"}},
		"lbo":       {effort.Sequential(12, 20, 40), optimizer.Settings{}},
		"walk":      {20, optimizer.Settings{Design: "walk"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "walk" {
				effort.Thorough(t, "is lbo but for its design")
			}
			runContract(t, c.trials, func(s *spaces.Space, seed uint64) (optimizer.Optimizer, error) {
				return optimizer.New(s, seed, c.settings)
			})
		})
	}
}

// All trials have as many values, and one method takes one alone.
func TestNumberOfObjectives(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "k", Kind: spaces.KindInt, Min: 1, Max: 9})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"lbo", "random", "sobol", "grid", "lipschitz"} {
		t.Run(method, func(t *testing.T) {
			opt, err := optimizer.New(space, 1, optimizer.Settings{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			p, err := opt.Ask(t.Context(), optimizer.Query{Trial: 1})
			if err != nil {
				t.Fatal(err)
			}
			tell := func(trial int, values ...float64) error {
				return opt.Tell(optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Succeeded, Values: values})
			}
			if err := tell(1, 1, 2); method == "lipschitz" {
				if err == nil || !strings.Contains(err.Error(), "one objective") {
					t.Errorf("%s was told two values: %v", method, err)
				}
				return
			} else if err != nil {
				t.Errorf("%s: %v", method, err)
			}
			if tell(2, 1) == nil || tell(3, 1, 2, 3) == nil || tell(4, 1, math.NaN()) == nil {
				t.Errorf("%s took other numbers of values", method)
			}
		})
	}
}

func TestGridTriesEverythingOnce(t *testing.T) {
	space, err := spaces.New(
		spaces.Param{Name: "a", Kind: spaces.KindInt, Min: 1, Max: 3},
		spaces.Param{Name: "b", Kind: spaces.KindFloat, Min: 0, Max: 1, Step: 0.5},
		spaces.Param{Name: "c", Kind: spaces.KindBool})
	if err != nil {
		t.Fatal(err)
	}
	opt, err := optimizer.New(space, 1, optimizer.Settings{Method: "grid"})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	space.Enumerate(func(v spaces.Values) bool { want = append(want, v.String()); return true })
	var pending []optimizer.Pending // trial 1 never ends
	for trial := 1; trial <= 18; trial++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: trial, Pending: pending})
		if err != nil {
			t.Fatal(err)
		}
		if got := space.Decode(p.Point).String(); got != want[trial-1] {
			t.Fatalf("trial %d: %s, want %s", trial, got, want[trial-1])
		}
		if trial == 1 {
			pending = append(pending, optimizer.Pending{Trial: 1, Point: p.Point})
			continue
		}
		if err := opt.Tell(optimizer.Observation{Trial: trial, Proposal: p, Status: optimizer.Failed}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := opt.Ask(t.Context(), optimizer.Query{Trial: 19, Pending: pending}); !errors.Is(err, optimizer.ErrExhausted) {
		t.Errorf("after all 18: %v", err)
	}
}

func TestGridNeedsAnEnd(t *testing.T) {
	space, err := spaces.New(spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 0, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := optimizer.New(space, 1, optimizer.Settings{Method: "grid"}); err == nil || !strings.Contains(err.Error(), "lr has no end of values") {
		t.Errorf("a grid over a float: %v", err)
	}
}
