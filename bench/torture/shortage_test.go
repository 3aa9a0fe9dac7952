//go:build linux

package torture_test

import (
	"os"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
)

// Where descriptors suffice for a few trials at a time, the others wait for them, and do not
// keep each other from starting.
func TestFewDescriptors(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", "sleep 0.1; echo loss={x}", 16, 16)
	r := l.program("/bin/sh", "-c", `ulimit -n 22; exec "$0" run spec.toml`, os.Getenv(programVar))
	r.launch()
	r.end().must(l, 0)
	if n := l.load().Count(optimizer.Succeeded); n != 16 {
		t.Errorf("%d of 16 trials succeeded", n)
	}
}
