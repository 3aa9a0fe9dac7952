package spec_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spec"
)

// What a spec takes to be read grows with its parameters, and not with their square. The
// measure is what is allocated, which does not depend on the machine.
func TestManyParameters(t *testing.T) {
	allocated := func(n int) uint64 {
		var command, params strings.Builder
		for i := range n {
			fmt.Fprintf(&command, " {p%d}", i)
			fmt.Fprintf(&params, "[params.p%d]\ntype = \"float\"\nmin = 0\nmax = 1\n", i)
		}
		text := fmt.Sprintf("command = \"echo%s\"\n[objective]\nmetric = \"loss\"\n[budget]\ntrials = 8\n[optimizer]\nmethod = \"random\"\n%s", &command, &params)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := spec.Parse("s.toml", []byte(text), t.TempDir()); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(10) // what is made once
	if few, many := allocated(250), allocated(1000); many > 6*few {
		t.Errorf("250 parameters take %d bytes, and 1000 %d", few, many)
	}
}
