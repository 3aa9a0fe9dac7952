package optimizer

import (
	"hash/fnv"
	"math/rand/v2"
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

// mix is the finaliser of splitmix64 (Steele, Lea and Flood 2014), a bijection
// in which every input bit changes every output bit with probability near ½.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
