package optimizer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// A point drawn beside another is made alone, and not with all others that might have been: with
// hundreds of levels there are hundreds of these.
func TestOneNeighbourIsMadeForADraw(t *testing.T) {
	var levels []string
	for k := range 200 {
		levels = append(levels, fmt.Sprint(k))
	}
	space, err := spaces.New(spaces.NewChoice("a", levels...), spaces.NewChoice("b", levels...))
	if err != nil {
		t.Fatal(err)
	}
	a := &ask{dom: newDomain(space)}
	r := wholeCube(space.Dim())
	r.base = space.Center()
	rng := rand.New(rand.NewPCG(1, 2))
	if made := testing.AllocsPerRun(100, func() { a.inBox(r, rng) }); made > 100 {
		t.Errorf("a draw allocates %v times", made)
	}
}
