package optimizer

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/lbotune/lbotune/optimizer/internal/sobol"
)

// stream returns the random stream of one purpose in the making of one
// proposal. Streams of different keys are independent for all that matters
// here; the same key always gives the same stream.
func stream(seed uint64, trial int, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	a := mix(seed ^ mix(h.Sum64()))
	b := mix(uint64(trial) + a)
	return rand.New(rand.NewPCG(a, b))
}

// mix is one step of SplitMix64.
func mix(z uint64) uint64 { return sobol.Mix(z + sobol.Golden) }
