//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Only one lbotune works on a study, by whatever name the others know it.
func TestSecondOrchestrator(t *testing.T) {
	slow(t)
	l := newLab(t)
	l.spec("spec.toml", "touch started; until test -e go; do sleep 0.02; done; echo loss={x}", 2, 1)
	first := l.start("run", "spec.toml")
	l.await("the first trial", func() bool {
		return l.exists("started") && strings.Contains(l.read("spec.study/journal.jsonl"), `"type":"started"`)
	})
	l.check(os.Symlink("spec.study", l.path("link.study")))
	l.check(os.Symlink("spec.toml", l.path("link.toml")))
	for _, dir := range []string{"linked-file", "hard-link"} {
		l.check(os.Mkdir(l.path(dir), 0o700))
	}
	l.check(os.Symlink("../spec.study/journal.jsonl", l.path("linked-file/journal.jsonl")))
	l.check(os.Link(l.path("spec.study/journal.jsonl"), l.path("hard-link/journal.jsonl")))
	before := l.read("spec.study/journal.jsonl")
	for _, args := range [][]string{
		{"run", "spec.toml"},
		{"resume", "spec.study"},
		{"resume", "spec.study/journal.jsonl"},
		{"run", "link.toml"}, // its study is link.study
		{"resume", "link.study"},
		{"resume", "linked-file"},
		{"resume", "hard-link"},
		{"run", "--study", "hard-link", "spec.toml"},
	} {
		res := l.run(4, args...)
		res.mustSay(l, fmt.Sprintf("in use by process %d on ", first.Process.Pid))
	}
	// Nor does it help to remove the lock file.
	l.check(os.Remove(l.path("spec.study/journal.lock")))
	l.run(4, "run", "spec.toml").mustSay(l, fmt.Sprintf("in use by process %d on ", first.Process.Pid))
	if after := l.read("spec.study/journal.jsonl"); after != before {
		t.Errorf("the journal was changed to\n%s", after)
	}
	// Who only looks is not kept out.
	for _, args := range [][]string{{"status", "spec.toml"}, {"trials", "hard-link"}, {"journal", "verify", "linked-file"}} {
		l.run(0, args...)
	}
	l.write("go", "")
	first.end().must(l, 0)
	l.run(0, "run", "spec.toml")
	if n := strings.Count(l.read("spec.study/journal.jsonl"), `"type":"finished"`); n != 2 {
		t.Errorf("%d finished trials", n)
	}
}

// Many that start at once: one wins, and the others say so.
func TestManyOrchestratorsAtOnce(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", as("work", l.dir+" {x} 40"), 10, 2)
	var all []*run
	for range scaled(6, 24) {
		all = append(all, l.start("run", "spec.toml"))
	}
	codes := map[int]int{}
	for _, r := range all {
		codes[r.end().code]++
	}
	if codes[0] < 1 || codes[0]+codes[4] != len(all) {
		t.Errorf("exit codes %v", codes)
	}
	if notes, overlaps := diary(l.read("diary")); attempts(notes) != 10 || len(overlaps) > 0 {
		t.Errorf("%d attempts, overlaps %q", attempts(notes), overlaps)
	}
	l.run(0, "journal", "verify", "spec.study")
}
