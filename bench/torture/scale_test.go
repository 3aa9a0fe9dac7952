//go:build linux

package torture_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// grow makes a study of spec.toml with so many finished trials, as if they had been run.
func (l *lab) grow(method string, trials int) {
	l.Helper()
	l.spec("spec.toml", "echo loss={x}", 1, 1)
	l.write("spec.toml", strings.Replace(l.read("spec.toml"), `"random"`, fmt.Sprintf("%q", method), 1))
	l.run(0, "run", "spec.toml")
	var first study.Record
	_, err := journal.Read(l.path("spec.study/journal.jsonl"), func(line journal.Record) error {
		if line.Seq == 1 {
			return first.UnmarshalJSON(line.Raw)
		}
		return nil
	})
	l.check(err)
	l.check(os.RemoveAll(l.path("spec.study")))
	l.check(os.Mkdir(l.path("spec.study"), 0o700))
	j, err := journal.Create(l.path("spec.study/journal.jsonl"), first)
	l.check(err)
	r := rand.New(rand.NewPCG(*seed, 3))
	at := first.At
	for n := 1; n <= trials; n++ {
		x := r.Float64()
		loss := (x - 0.3) * (x - 0.3)
		at = at.Add(time.Second)
		_, err := j.AppendLazy(
			study.Record{At: at, Elapsed: at.Sub(first.At), Event: study.Proposed{Trial: n, Told: n - 1, Pending: []int{},
				Origin: optimizer.OriginExplore, Values: spaces.Values{{Name: "x", Value: spaces.Float(x)}}, Note: optimizer.Note{Why: "uniform"}}},
			study.Record{At: at, Elapsed: at.Sub(first.At), Event: study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: study.Metrics{"loss": loss}, Seconds: 1}})
		l.check(err)
	}
	l.check(j.Close())
}

// cost runs lbotune, says what it took, and returns its memory in MiB.
func (l *lab) cost(what string, args ...string) int {
	l.Helper()
	r := l.command(args...)
	begin := time.Now()
	r.launch()
	memory := r.watchMemory()
	res := r.end()
	res.must(l, 0)
	took, cpu := time.Since(begin), r.ProcessState.UserTime()+r.ProcessState.SystemTime()
	mib := <-memory >> 10
	l.Logf("%-32s %6.2f s, %6.2f s of processor time, %4d MiB", what, took.Seconds(), cpu.Seconds(), mib)
	return mib
}

// A study may grow large: what it costs to look at it and to go on is bounded.
func TestLargeStudy(t *testing.T) {
	slow(t)
	if raced {
		t.Skip("measures memory")
	}
	trials := scaled(10_000, 100_000)
	l := newLab(t)
	l.grow("random", trials)
	for _, c := range []struct{ what, args string }{
		{"status", "status spec.study"},
		{"best", "best spec.study"},
		{"journal verify", "journal verify spec.study"},
		{"resume, and one trial more", fmt.Sprintf("resume -n %d spec.study", trials+1)},
	} {
		if mib := l.cost(fmt.Sprintf("%s at %d trials", c.what, trials), strings.Fields(c.args)...); mib > 200 {
			t.Errorf("%s took %d MiB", c.what, mib)
		}
	}
}

// A running study takes little memory.
func TestRunningStudy(t *testing.T) {
	slow(t)
	if raced {
		t.Skip("measures memory")
	}
	for _, method := range []string{"random", "lbo"} {
		l := newLab(t)
		l.grow(method, 1000)
		if mib := l.cost(method+" from 1000 to 1010 trials", "resume", "-n", "1010", "spec.study"); mib > 60 {
			t.Errorf("%s took %d MiB", method, mib)
		}
	}
	if *atLength {
		l := newLab(t)
		l.spec("spec.toml", "echo loss={x}", 1000, 2)
		if mib := l.cost("random to 1000 trials", "run", "spec.toml"); mib > 60 {
			t.Errorf("a study from its beginning took %d MiB", mib)
		}
	}
}
