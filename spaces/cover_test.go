package spaces_test

import (
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

func TestCover(t *testing.T) {
	words := func(list ...string) []spaces.Value {
		var out []spaces.Value
		for _, w := range list {
			out = append(out, spaces.String(w))
		}
		return out
	}
	s, err := spaces.New(
		spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 0, Max: 1},
		spaces.Param{Name: "opt", Kind: spaces.KindChoice, Choices: words("sgd", "adam", "lbfgs")},
		spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 9},
		spaces.Param{Name: "nesterov", Kind: spaces.KindBool, When: "opt == 'sgd' and n > 5 and n != 6"},
		spaces.Param{Name: "deep", Kind: spaces.KindBool, When: "nesterov == true"},
		spaces.Param{Name: "fused", Kind: spaces.KindBool, When: "opt != 'sgd' and lr < 0.25"},
		spaces.Param{Name: "never", Kind: spaces.KindBool, When: "n > 5 and n < 5"},
	)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	all := s.Cover()
	for i, vs := range all {
		point, err := s.Encode(vs)
		if err != nil || !s.Decode(point).Equal(vs) {
			t.Errorf("%v is no configuration: %v", vs, err)
		}
		if i == 0 && !vs.Equal(s.Decode(s.Center())) {
			t.Errorf("the first is %v, not the middle", vs)
		}
		for _, a := range vs {
			seen[a.Name+"="+a.Value.Text()] = true
		}
	}
	for _, want := range []string{"opt=sgd", "opt=adam", "opt=lbfgs", "nesterov=false", "nesterov=true", "deep=false", "deep=true", "fused=false", "fused=true"} {
		t.Run(want, func(t *testing.T) {
			if !seen[want] {
				t.Errorf("%s is in none of %v", want, all)
			}
		})
	}
	if len(all) > 7 {
		t.Errorf("%d configurations: %v", len(all), all)
	}
}
