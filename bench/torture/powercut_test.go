//go:build linux

package torture_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

var (
	cuts    = flag.Int("cuts", 0, "power cuts; 0: as many as fit")
	cutSeed = flag.Uint64("cutseed", 0, "of the power cuts; 0: with -torture a new one")
)

const cutTrials = 6

// cutSpecs are specs whose trials have the value of x as their loss, so that a value that
// is not its own is noticed. With KILL in the environment, the orphaned ones kill lbotune
// and end alone.
var cutSpecs = map[string]string{
	"quick": `command = "echo loss={x}"
[objective]
metric = "loss"
`,
	"talkative": `command = "i=0; while [ $i -lt 25 ]; do echo epoch=$i loss=7.$i ...........................; i=$((i+1)); done; echo loss={x}"
[objective]
metric = "loss"
step = "epoch"
`,
	"failing first": `command = "echo loss={x}; a={attempt}; exit $((a < 2))"
[objective]
metric = "loss"
`,
	"result file": `command = "echo {x} > {trial_dir}/result"
[objective]
file = "{trial_dir}/result"
last_number = true
`,
	"orphaned": `command = "[ -z \"$KILL\" ] || { mkdir killed && kill -9 $(cat pid); }; i=0; while [ $i -lt 25 ]; do echo epoch=$i loss=7.$i ...........................; i=$((i+1)); done; echo loss={x}"
[objective]
metric = "loss"
`,
	"orphaned result file": `command = "[ -z \"$KILL\" ] || { mkdir killed && kill -9 $(cat pid); }; echo {x} > {trial_dir}/result"
[objective]
file = "{trial_dir}/result"
last_number = true
`,
}

// cutRuns are further lines of their tables [run].
var cutRuns = map[string]string{"failing first": "retries = 1"}

// An era is what happens on a disk from one power cut to the next.
type era struct {
	disk  *cutDisk
	spec  string
	shown map[int]string // what had been reported when it began: a value for each trial
	tmp   string
	code  int
}

func (l *lab) newEra(disk *cutDisk, spec string, shown map[int]string) *era {
	l.Helper()
	tmp, err := os.MkdirTemp(l.dir, "era-")
	l.check(err)
	return &era{disk: disk, spec: spec, shown: shown, tmp: tmp}
}

// said is what lbotune had printed by an operation.
func (e *era) said(at int) string {
	said, _ := e.disk.Read(at, "screen")
	return string(said)
}

// Power fails after any operation on the file system, and again while the study goes on.
// No result that was reported is lost, doubled or changed. Where the disk has kept a later
// block of the journal without an earlier one, lbotune asks for a repair, as
// docs/journal.md says.
func TestPowerCuts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounts file systems: needs root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skipf("needs file systems in user space: %v", err)
	}
	n := *cuts
	if n == 0 {
		n = scaled(effort.Of(25, 100, 250), 10_000)
	}
	seed := *cutSeed
	if seed == 0 && *atLength {
		seed = rand.Uint64()
	}
	t.Logf("%d power cuts, -cutseed %d", n, seed)
	l := newLab(t)
	r := rand.New(rand.NewPCG(seed, 0))
	names := slices.Sorted(maps.Keys(cutSpecs))
	whole := map[string]*era{}
	var last *era
	again, reported, rerun, repaired := 0, 0, 0, 0
	for i := range n {
		name := names[r.IntN(len(names))]
		from := whole[name]
		switch {
		case from == nil || r.IntN(50) == 0: // runs differ: a new one now and then
			from = l.firstEra(name)
			whole[name] = from
		case last != nil && r.IntN(3) == 0:
			from = last
			again++
		}
		at := r.IntN(from.disk.Len() + 1)
		if r.IntN(4) == 0 { // the end, in which orphans have written how they ended
			at = max(0, from.disk.Len()-r.IntN(20))
		}
		last = l.nextEra(from, at, r)
		reported += len(last.shown)
		rerun += cutTrials - len(last.shown)
		if strings.Contains(last.said(last.disk.Len()), "\nrepaired\n") {
			repaired++
		}
		if t.Failed() {
			t.Fatalf("cut %d of -cutseed %d, of %q after operation %d of %d", i+1, seed, from.spec, at, from.disk.Len())
		}
	}
	t.Logf("%d cuts, %d of them while a study went on after one: %d results had been reported and were kept, %d were made afterwards; %d journals had to be repaired",
		n, again, reported, rerun, repaired)
}

// firstEra runs a study from its start to its end.
func (l *lab) firstEra(name string) *era {
	l.Helper()
	e := l.newEra(newDisk(), name, map[int]string{})
	e.disk.Put("spec.toml", cutSpecs[name]+"direction = \"minimize\"\n"+searching(cutTrials, 2, cutRuns[name]))
	e.run(l, "KILL=1")
	if e.code != 128+int(syscall.SIGKILL) {
		e.check(l, "")
	}
	return e
}

// nextEra cuts the power of an era after some of its operations, and lets the study go on.
func (l *lab) nextEra(from *era, at int, r *rand.Rand) *era {
	l.Helper()
	e := l.newEra(from.disk.Cut(at, r), from.spec, maps.Clone(from.shown))
	maps.Copy(e.shown, results(from.said(at)))
	before, _ := from.disk.Read(at, "spec.study", "journal.jsonl")
	left := filepath.Join(e.tmp, "left")
	l.check(e.disk.Save(left))
	e.run(l)
	e.check(l, promised(string(before), e.shown))
	if l.Failed() {
		keep, err := os.MkdirTemp("", "powercut-")
		l.check(err)
		l.check(os.CopyFS(keep, os.DirFS(left)))
		l.Logf("what the cut left is in %s", keep)
	}
	l.check(os.RemoveAll(e.tmp))
	return e
}

// promised returns the lines of a journal to the last that was reported.
func promised(text string, shown map[int]string) string {
	end := 0
	for trial := range shown {
		m := regexp.MustCompile(`"type":"finished".*"trial":` + strconv.Itoa(trial) + `,.*\n`).FindStringIndex(text)
		if m != nil {
			end = max(end, m[1])
		}
	}
	return text[:end]
}

// run lets the study go on to its end, in another boot.
func (e *era) run(l *lab, env ...string) {
	l.Helper()
	dir := filepath.Join(e.tmp, "disk")
	l.check(os.Mkdir(dir, 0o700))
	unmount, err := e.disk.Mount(dir)
	if err != nil {
		l.Skipf("cannot mount a file system in user space: %v", err)
	}
	boot := fmt.Sprintf("00000000-0000-4000-8000-%012x", rand.Uint64N(1<<48))
	l.write("boot", boot+"\n")
	l.write("bin/sync", fmt.Sprintf("#!/bin/sh\necho >%s\n", filepath.Join(dir, syncName)))
	l.check(os.Chmod(l.path("bin/sync"), 0o755))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// The shell changes to the directory: this process must not touch it.
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c",
		`mount --bind "$1" /proc/sys/kernel/random/boot_id && cd "$2" || exit
sh -c 'echo $$ > pid; exec "$0" run spec.toml' "$3" > screen 2>&1
code=$?
if [ $code = 3 ]; then
	"$3" journal repair spec.study repaired >> screen 2>&1 && mv repaired spec.study/journal.jsonl &&
	echo repaired >> screen && "$3" run spec.toml >> screen 2>&1
	code=$?
fi
exit $code`,
		"sh", l.path("boot"), dir, os.Getenv(programVar))
	cmd.Cancel = func() error {
		l.Errorf("the study does not end; alive are %q", l.alive())
		return cmd.Process.Kill()
	}
	cmd.Env = slices.Concat(os.Environ(), l.env, env, []string{"PATH=" + l.path("bin") + ":" + os.Getenv("PATH")})
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.Fatal(err)
	}
	e.code = cmd.ProcessState.ExitCode()
	l.await("the end of all trials", func() bool { return len(l.alive()) == 0 })
	l.check(unmount())
}

// check checks that the study is whole and has what was promised.
func (e *era) check(l *lab, promised string) {
	l.Helper()
	said := e.said(e.disk.Len())
	if e.code != 0 {
		l.Errorf("exit code %d:\n%s", e.code, said)
		return
	}
	dir := filepath.Join(e.tmp, "end")
	l.check(e.disk.Save(dir))
	dir = filepath.Join(dir, "spec.study")
	text, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	l.check(err)
	if !strings.HasPrefix(string(text), promised) {
		l.Errorf("records of reported results were lost or changed: there was\n%s\nthere is\n%s", promised, text)
	}
	if sum, err := journal.Verify(filepath.Join(dir, "journal.jsonl")); err != nil || sum.Torn != nil {
		l.Errorf("the journal is not intact: %v, torn %+v", err, sum.Torn)
	}
	for _, line := range finishedTwice(dir) {
		l.Errorf("a second end: %s", line)
	}
	st, err := study.Load(dir)
	l.check(err)
	if len(st.Trials) != cutTrials || st.Count(optimizer.Succeeded) != cutTrials || !st.Ended() {
		l.Errorf("%d trials, %d succeeded, ended: %v\n%s", len(st.Trials), st.Count(optimizer.Succeeded), st.Ended(), said)
	}
	for _, trial := range st.Trials {
		x, _ := trial.Values()[0].Value.Number()
		shown, ok := e.shown[trial.Number]
		if trial.Value != x || ok && !shownAs(x, shown) {
			l.Errorf("trial %d has the value %v, reported as %q; want %v\n%s", trial.Number, trial.Value, shown, x, said)
		}
	}
}
