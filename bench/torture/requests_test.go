//go:build linux

package torture_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// given counts the trials with a value of x that a person gave, and those that wait.
func given(st *study.State, x string) (n int) {
	for _, t := range st.Trials {
		if v, _ := t.Values().Get("x"); t.Origin == optimizer.OriginGiven && v.Text() == x {
			n++
		}
	}
	for _, q := range st.Queue {
		if v, _ := q.Get("x"); v.Text() == x {
			n++
		}
	}
	return n
}

// Whoever is killed, lbotune at work or the one that asks it for something, what was
// answered has its effect once, and nothing has it twice.
func TestRequestStorm(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", as("work", l.dir+" {x} 40"), 10000, 3)
	asked := scaled(24, 300)
	over := make(chan struct{})
	var storm sync.WaitGroup
	storm.Go(func() {
		r := rand.New(rand.NewPCG(*seed, 1))
		for {
			run := l.start("run", "spec.toml")
			select {
			case <-over:
			case <-time.After(time.Duration(100+r.IntN(900)) * time.Millisecond):
			}
			_ = run.Process.Kill()
			run.end()
			select {
			case <-over:
				return
			default:
			}
		}
	})
	l.await("the study", func() bool { return l.exists("spec.study/journal.jsonl") })
	r := rand.New(rand.NewPCG(*seed, 2))
	answered, killed := []string{}, []string{}
	for i := range asked {
		x := fmt.Sprintf("0.%04d", 2*i+1001)
		e := l.start("enqueue", "spec.study", "x="+x)
		if r.IntN(3) == 0 {
			time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
			_ = e.Process.Kill()
		}
		if res := e.end(); res.code == 0 {
			answered = append(answered, x)
		} else if res.code == 128+int(syscall.SIGKILL) {
			killed = append(killed, x)
		} else {
			t.Errorf("enqueue: exit code %d\n%s", res.code, res.err)
		}
	}
	close(over)
	storm.Wait()
	l.run(0, "note", "spec.study", "the storm is over") // takes what waits
	st := l.load()
	for _, x := range answered {
		if n := given(st, x); n != 1 {
			t.Errorf("x=%s was answered, and is there %d times", x, n)
		}
	}
	some := 0
	for _, x := range killed {
		n := given(st, x)
		if n > 1 {
			t.Errorf("x=%s is there %d times", x, n)
		}
		some += n
	}
	l.noneWait()
	l.run(0, "journal", "replay", "spec.study")
	l.kill()
	t.Logf("%d requests were answered, %d were killed, and %d of these had an effect, in %d sessions", len(answered), len(killed), some, st.Sessions)
}

// Lbotune is killed at one of the system calls by which it takes a request, or by which
// it leaves one.
func TestKilledAtEachStepOfARequest(t *testing.T) {
	slow(t)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	traced := func(l *lab, at, path string, args ...string) *run {
		call, _, _ := strings.Cut(at, ":")
		argv := []string{"-f", "-q", "-o", l.path("trace"), "-e", "trace=" + call, "-e", "inject=" + at}
		if path != "" {
			argv = append(argv, "-P", path)
		}
		r := l.program(strace, append(append(argv, os.Getenv(programVar)), args...)...)
		r.launch()
		return r
	}
	recorded := 0 // kills between the record of a request and its removal
	for _, calls := range []struct{ asks, works string }{{"fsync", "fsync"}, {"renameat", "write"}, {"unlinkat", "unlinkat"}} {
		for n := range scaled(6, 20) {
			when := fmt.Sprintf(":signal=KILL:when=%d", n+1)
			t.Run("asks "+calls.asks+when, func(t *testing.T) {
				l := newLab(t)
				l.spec("spec.toml", l.gate("go")+"; echo loss={x}", 2, 1)
				work := l.start("run", "spec.toml")
				l.await("the run", func() bool { return l.exists("spec.study/trials") })
				res := traced(l, calls.asks+when, "", "enqueue", "spec.study", "x=0.125").end()
				l.open("go")
				work.end().must(l, 0)
				l.run(0, "run", "spec.toml", "--trials", "4")
				if got := given(l.load(), "0.125"); got > 1 || res.code == 0 && got == 0 {
					t.Errorf("exit code %d, and the values are there %d times", res.code, got)
				}
				l.noneWait()
			})
			t.Run("works "+calls.works+when, func(t *testing.T) {
				l := newLab(t)
				l.spec("spec.toml", l.gate("go")+"; echo loss={x}", 2, 1)
				l.run(0, "note", "spec.toml", "begun")
				layout := layout.Of(l.path("spec.study"))
				r, err := inbox.Leave(layout, study.Request{Action: study.ActionEnqueue, Values: spaces.Values{{Name: "x", Value: spaces.Float(0.125)}}})
				l.check(err)
				path := layout.Journal()
				if calls.works == "unlinkat" {
					path = layout.Requests() // a descriptor of which the removal is given
				}
				work := traced(l, calls.works+when, path, "run", "spec.toml")
				l.await("the request", func() bool {
					return !inbox.Waits(layout, r) || l.exists("trace") && strings.Contains(l.read("trace"), "killed by")
				})
				if _, known := l.load().Answered(r.ID); known && inbox.Waits(layout, r) {
					recorded++
				}
				l.open("go")
				work.end()
				l.run(0, "run", "spec.toml", "--trials", "4")
				if got := given(l.load(), "0.125"); got != 1 {
					t.Errorf("the values are there %d times", got)
				}
				l.noneWait()
			})
		}
	}
	if recorded == 0 {
		t.Error("no kill came between the record of a request and its removal")
	}
}

// noneWait fails if a request was left.
func (l *lab) noneWait() {
	l.Helper()
	if rs, err := inbox.Read(layout.Of(l.path("spec.study"))); err != nil || len(rs) > 0 {
		l.Errorf("%d requests wait: %v", len(rs), err)
	}
}
