//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
)

// The kernel refuses the n-th sync or write of the journal, once or for ever: lbotune
// stops with 74, and the same command then ends as if nothing had happened.
func TestInjectedErrors(t *testing.T) {
	slow(t)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	ns := scaled([]int{2, 6}, []int{1, 2, 3, 4, 5, 6, 8, 11, 15, 20})
	kinds := []string{"fsync:error=EIO", "write:error=ENOSPC", "fsync:error=ENOSPC", "write:error=EDQUOT", "write:error=EIO"}
	for _, c := range kinds[:scaled(2, len(kinds))] {
		for _, ever := range []string{"", "+"} {
			injected := 0
			for _, n := range ns {
				t.Run(fmt.Sprintf("%s:when=%d%s", c, n, ever), func(t *testing.T) {
					if newLab(t).injected(strace, c, fmt.Sprintf("%d%s", n, ever)) {
						injected++
					}
				})
			}
			if injected == 0 {
				t.Errorf("no %s was ever injected", c)
			}
		}
	}
}

// injected runs a study to which an error is injected, and reports whether it was.
func (l *lab) injected(strace, what, when string) bool {
	l.Helper()
	l.spec("spec.toml", as("work", l.dir+" {x} 10"), 20, 2)
	call, _, _ := strings.Cut(what, ":")
	journal := l.path("spec.study/journal.jsonl")
	r := l.program(strace, "--seccomp-bpf", "-f", "-qq", "-o", l.path("trace"), "-e", "trace="+call,
		"-e", "inject="+what+":when="+when, "-P", journal, "-P", journal+".new",
		os.Getenv(programVar), "run", "spec.toml")
	r.launch()
	res := r.end()
	if !strings.Contains(l.read("trace"), "(INJECTED)") {
		res.must(l, 0) // each thread counts by itself, and none came so far
		return false
	}
	res.must(l, 74)
	res.mustSay(l, "lbotune: cannot ")
	if strings.Count(res.err, ": cannot ") > 1 {
		l.Errorf("it says so twice:\n%s", res.err)
	}
	if strings.Contains(res.err, "study "+l.dir) {
		l.stoppedWriting(res, "spec.study")
	}
	l.run(0, "run", "spec.toml")
	notes, overlaps := diary(l.read("diary"))
	if n := l.load().Count(optimizer.Succeeded); n != 20 || attempts(notes) != 20 || len(overlaps) > 0 {
		l.Errorf("%d succeeded after %d attempts, overlaps %q", n, attempts(notes), overlaps)
	}
	return true
}
