//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/optimizer"
)

// gpus makes an nvidia-smi for the lab that knows two GPUs, one of them in use by process
// 1 of the machine.
func (l *lab) gpus() {
	l.Helper()
	l.write("bin/nvidia-smi", `#!/bin/sh
case $1 in
--query-gpu=index) printf '0\n1\n' ;;
--query-gpu=index,uuid) printf '0, GPU-aa\n1, GPU-bb\n' ;;
*) printf 'GPU-bb, 1, 512 MiB, /sbin/in,\033[31mit\nGPU-cc, 1, 512 MiB, x\n' ;;
esac
`)
	l.check(os.Chmod(l.path("bin/nvidia-smi"), 0o755))
	l.env = append(l.env, "PATH="+l.path("bin")+":"+os.Getenv("PATH"))
}

// most is how many lines "start" of a log no line "end" has answered, at most.
func most(log string) int {
	now, most := 0, 0
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "start") {
			now++
		} else {
			now--
		}
		most = max(most, now)
	}
	return most
}

// Thirty studies at once run as many trials at a time as they agreed upon, each to its
// end, while some of them are killed and started again.
func TestThirtyStudies(t *testing.T) {
	slow(t)
	l := newLab(t)
	const studies, trials, slots, killed = 30, 3, 4, 5
	args := func(i int) []string {
		return []string{"run", "--share", fmt.Sprint(slots), fmt.Sprintf("s%d.toml", i)}
	}
	var runs []*run
	for i := range studies {
		l.spec(fmt.Sprintf("s%d.toml", i), "echo start >> log; sleep 0.1; echo end >> log; echo loss={x}", trials, 2)
		runs = append(runs, l.start(args(i)...))
	}
	l.await("trials", func() bool { return l.exists("log") && strings.Count(l.read("log"), "end") >= slots })
	for _, r := range runs[:killed] {
		l.check(r.Process.Kill())
		r.end()
	}
	for i := range killed {
		runs[i] = l.start(args(i)...)
	}
	for _, r := range runs {
		r.end().must(l, 0)
	}
	for i := range studies {
		if n := l.loadDir(fmt.Sprintf("s%d.study", i)).Count(optimizer.Succeeded); n != trials {
			t.Errorf("study %d: %d of %d trials succeeded", i, n, trials)
		}
	}
	log := l.read("log")
	if n := most(log); n > slots || strings.Count(log, "start") != studies*trials {
		t.Errorf("%d trials at a time, and %d in all; want %d and %d", n, strings.Count(log, "start"), slots, studies*trials)
	}
}

// A GPU is one trial's as long as anything of that trial lives, and no longer, whatever
// becomes of lbotune.
func TestGPUOfAKilledStudy(t *testing.T) {
	l := newLab(t)
	l.gpus()
	const wait = "echo start $CUDA_VISIBLE_DEVICES >> log; until test -e go{trial}; do sleep 0.02; done; echo end >> log; echo loss={x}"
	l.spec("a.toml", wait, 2, 1, `gpus = "auto"`)
	l.spec("b.toml", "echo $CUDA_VISIBLE_DEVICES >> b; echo loss={x}", 4, 2, `slots = [{ env = { CUDA_VISIBLE_DEVICES = "GPU-aa" } }, { env = { CUDA_VISIBLE_DEVICES = "1" } }]`)
	started := func(n int) func() bool {
		return func() bool { return l.exists("log") && strings.Count(l.read("log"), "start") == n }
	}
	a := l.start("run", "a.toml")
	l.await("both trials of a", started(2))
	said := a.said()
	if want := "GPU 1 is also used by process 1 of root: "; !strings.Contains(said, want) || strings.Contains(said, "GPU-cc") || strings.Contains(said, "\033") {
		t.Errorf("it does not say %q:\n%q", want, said)
	}
	l.check(a.Process.Kill())
	a.end()

	b := l.start("run", "b.toml")
	l.await("b to say that it waits", func() bool {
		return strings.Contains(b.said(), "waiting: other studies have the GPUs")
	})
	if l.exists("b") {
		t.Fatalf("b runs on a GPU that a trial of a uses: %s", l.read("b"))
	}
	alive := l.alive()
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} { // so that neither sees the other die
		for pid, cmd := range alive { // the trial on GPU 1 and its supervisor
			if strings.Contains(cmd, "go'2'") {
				_ = syscall.Kill(pid, signal)
			}
		}
	}
	b.end().must(l, 0)
	if got := l.read("b"); got != strings.Repeat("1\n", 4) {
		t.Errorf("b ran on the GPUs %q", got)
	}

	// Trial 1 of a is still on GPU 0, and so trial 2 gets GPU 1 again.
	l.write("go2", "")
	a = l.start("run", "a.toml")
	l.await("trial 2 of a", func() bool { return l.loadDir("a.study").Trials[1].Done() })
	l.write("go1", "")
	a.end().must(l, 0)
	if got, want := l.read("log"), "start 1\nend\nend\n"; !strings.HasSuffix(got, want) {
		t.Errorf("trials of a: %q; want it to end in %q", got, want)
	}
}

// Two trials share a GPU where both of their studies allow it.
func TestSharedGPU(t *testing.T) {
	slow(t)
	l := newLab(t)
	l.gpus()
	log := "echo start >> log$CUDA_VISIBLE_DEVICES; sleep 0.1; echo end >> log$CUDA_VISIBLE_DEVICES; echo loss={x}"
	for _, name := range []string{"a", "b"} {
		l.spec(name+".toml", log, 8, 1, `gpus = "auto"`, "per_gpu = 2")
	}
	l.spec("alone.toml", "test -e busy$CUDA_VISIBLE_DEVICES && exit 1; "+log, 4, 1, `gpus = "auto"`)
	a, b, alone := l.start("run", "a.toml"), l.start("run", "b.toml"), l.start("run", "alone.toml")
	for _, r := range []*run{a, b, alone} {
		r.end().must(l, 0)
	}
	for _, gpu := range []string{"0", "1"} {
		if n := most(l.read("log" + gpu)); n > 2 {
			t.Errorf("%d trials on GPU %s", n, gpu)
		}
	}
}

// Where the folder cannot be used nothing is started, and the reason is said.
func TestFolderOfSharers(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", "echo loss={x}", 1, 1)
	l.run(2, "run", "--share", "0", "spec.toml").mustSay(l, "--share: found 0; want at least 1")
	l.env = append(l.env, "LBOTUNE_SHARE_DIR="+l.path("spec.toml"))
	l.run(2, "run", "--share", "2", "spec.toml").mustSay(l, "cannot share this machine", "not a directory", "hint: set LBOTUNE_SHARE_DIR")
	l.run(0, "run", "spec.toml")
}
