package optimizer_test

import (
	"testing"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/optimizer/optimizertest"
	"github.com/lbotune/lbotune/spaces"
)

func TestContract(t *testing.T) {
	for name, c := range map[string]struct {
		trials   int
		settings optimizer.Settings
	}{
		"random":    {60, optimizer.Settings{Method: optimizer.MethodRandom}},
		"lipschitz": {40, optimizer.Settings{Method: optimizer.MethodLipschitz}},
		"lbo":       {40, optimizer.Settings{}},
	} {
		t.Run(name, func(t *testing.T) {
			optimizertest.Run(t, c.trials, func(s *spaces.Space, seed uint64) (optimizer.Optimizer, error) {
				return optimizer.New(s, seed, c.settings)
			})
		})
	}
}
