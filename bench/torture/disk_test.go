//go:build linux

package torture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/optimizer"
)

// smallDisk mounts a file system of so many KiB in the lab, or skips the test.
func (l *lab) smallDisk(name string, kib int) {
	l.Helper()
	l.check(os.Mkdir(l.path(name), 0o700))
	tempdir.Disk(l, l.path(name), kib)
	l.Cleanup(func() { l.kill() })
}

// spare makes room on a small disk.
func (l *lab) spare(name string, kib int) {
	l.Helper()
	l.check(syscall.Mount("", l.path(name), "", syscall.MS_REMOUNT, fmt.Sprintf("size=%dk", kib)))
}

// stoppedWriting checks a run that could not write any more, and what it left behind.
func (l *lab) stoppedWriting(res result, dir string) {
	l.Helper()
	res.must(l, 74)
	res.mustSay(l, "lbotune: ", "hint: nothing more was started", "run the same command to continue")
	l.run(0, "journal", "verify", dir)
	for line := range strings.Lines(res.err) {
		var n int
		if m := reported.FindStringSubmatch(line); m != nil {
			if _, err := fmt.Sscan(m[1], &n); err != nil || !l.loadDir(dir).Trials[n-1].Done() {
				l.Errorf("a result was reported and is not in the journal: %s", line)
			}
		}
	}
}

// A disk that fills up ends the run and loses nothing; with room on it the same command
// ends as if nothing had happened.
func TestFullDisk(t *testing.T) {
	for _, kib := range scaled([]int{148, 160, 164, 172, 176}, []int{40, 48, 56, 64, 72, 80, 88, 96, 128, 160, 192, 256, 320, 384, 512}) {
		t.Run(fmt.Sprintf("%d KiB", kib), func(t *testing.T) {
			l := newLab(t)
			l.smallDisk("small", kib)
			l.spec("spec.toml", as("work", l.dir+" {x} 20"), 60, 3)
			args := []string{"run", "--study", "small/study", "spec.toml"}
			res := l.start(args...).end()
			if res.code == 74 && !l.exists("small/study/journal.jsonl") {
				res.mustSay(l, "no space left on device")
			} else {
				l.stoppedWriting(res, "small/study")
			}
			l.start(args...).end().must(l, 74) // still full
			l.spare("small", 8<<10)
			l.run(0, args...)
			st := l.loadDir("small/study")
			if st.Count(optimizer.Succeeded) != 60 {
				t.Errorf("%d of 60 trials succeeded", st.Count(optimizer.Succeeded))
				l.run(0, "trials", "small/study")
			}
			l.run(0, "journal", "replay", "small/study")
		})
	}
}

// A disk that is full when the study begins leaves no half study behind.
func TestFullFromTheStart(t *testing.T) {
	l := newLab(t)
	l.smallDisk("small", 64)
	l.check(os.Mkdir(l.path("small/study"), 0o700))
	if err := os.WriteFile(l.path("small/ballast"), make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	l.spec("spec.toml", "echo loss={x}", 3, 1)
	args := []string{"run", "--study", "small/study", "spec.toml"}
	l.run(74, args...).mustSay(l, "no space left on device")
	if l.exists("small/study/journal.jsonl") {
		t.Error("a study was begun")
	}
	l.check(os.Remove(l.path("small/ballast")))
	l.run(0, args...)
}

// Files may not grow beyond a limit of the shell's.
func TestFileSizeLimit(t *testing.T) {
	for _, blocks := range scaled([]int{6}, []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}) {
		l := newLab(t)
		l.spec("spec.toml", as("work", l.dir+" {x} 20"), 60, 3)
		r := l.program("/bin/sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, blocks), os.Getenv(programVar), "run", "spec.toml")
		r.launch()
		res := r.end()
		res.mustSay(l, "file too large")
		if l.exists("spec.study/journal.jsonl") {
			l.stoppedWriting(res, "spec.study")
		} else { // there was no room for its first line
			res.must(l, 74)
		}
		l.run(0, "run", "spec.toml")
		notes, overlaps := diary(l.read("diary"))
		if n := l.load().Count(optimizer.Succeeded); n != 60 || attempts(notes) != 60 || len(overlaps) > 0 {
			t.Errorf("limit %d: %d succeeded after %d attempts, overlaps %q", blocks, n, attempts(notes), overlaps)
		}
	}
}

// A directory that is read only refuses a study, and shows one that is there.
func TestReadOnlyDirectory(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", "echo loss={x}", 3, 1)
	l.run(0, "run", "spec.toml")
	l.check(os.Mkdir(l.path("shut"), 0o700))
	l.check(os.CopyFS(l.path("shut/old.study"), os.DirFS(l.path("spec.study"))))
	nobody := l.somebodyElse("shut")
	dirs := []string{"shut", "shut/old.study", "shut/old.study/trials"}
	for _, dir := range dirs {
		l.check(os.Chmod(l.path(dir), 0o500))
	}
	t.Cleanup(func() {
		for _, dir := range dirs {
			l.check(os.Chmod(l.path(dir), 0o700))
		}
	})
	for _, c := range []struct {
		code int
		args []string
	}{
		{74, []string{"run", "--study", "shut/new.study", "spec.toml"}},
		{74, []string{"run", "--study", "shut/old.study", "-n", "4", "spec.toml"}},
		{0, []string{"status", "shut/old.study"}},
		{0, []string{"best", "shut/old.study"}},
		{0, []string{"journal", "verify", "shut/old.study"}},
	} {
		r := l.command(c.args...)
		r.SysProcAttr = &syscall.SysProcAttr{Credential: nobody}
		r.launch()
		res := r.end()
		res.must(l, c.code)
		if c.code != 0 {
			res.mustSay(l, "permission denied")
		}
	}
}

// somebodyElse returns whom to run lbotune as so that permissions count, and gives him
// the directory. Nil means ourselves, for whom they count already.
func (l *lab) somebodyElse(dir string) *syscall.Credential {
	l.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	for up := l.dir; strings.HasPrefix(up, os.TempDir()+"/"); up = filepath.Dir(up) {
		l.check(os.Chmod(up, 0o755))
	}
	l.check(filepath.Walk(l.path(dir), func(path string, _ os.FileInfo, err error) error {
		if err == nil {
			err = os.Chown(path, nobody, nobody)
		}
		return err
	}))
	return &syscall.Credential{Uid: nobody, Gid: nobody}
}

// A journal that is taken away while lbotune works: what is known is shown, nothing
// more is launched, and once it is back run the same command to continue.
func TestJournalTakenAway(t *testing.T) {
	for name, c := range map[string]struct{ take, giveBack func(l *lab) error }{
		"file moved": {
			func(l *lab) error { return os.Rename(l.path("spec.study/journal.jsonl"), l.path("away")) },
			func(l *lab) error { return os.Rename(l.path("away"), l.path("spec.study/journal.jsonl")) },
		},
		"directory moved": {
			func(l *lab) error { return os.Rename(l.path("spec.study"), l.path("away")) },
			func(l *lab) error { return os.Rename(l.path("away"), l.path("spec.study")) },
		},
		"replaced by a copy": {
			func(l *lab) error {
				text := l.read("spec.study/journal.jsonl")
				l.write("copy", text)
				return os.Rename(l.path("copy"), l.path("spec.study/journal.jsonl"))
			},
			func(*lab) error { return nil },
		},
		"written to": {
			func(l *lab) error {
				f, err := os.OpenFile(l.path("spec.study/journal.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					return err
				}
				defer f.Close()
				_, err = f.WriteString("x")
				return err
			},
			func(*lab) error { return nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", "touch "+l.path("started")+"; "+l.gate("go")+"; echo loss={x}; echo {trial} >> "+l.path("runs"), 4, 1)
			r := l.start("run", "spec.toml")
			l.await("the first trial and its record", func() bool {
				return l.exists("started") && strings.Contains(l.read("spec.study/journal.jsonl"), `"type":"started"`)
			})
			l.check(c.take(l))
			l.open("go")
			res := r.end()
			res.must(l, 74)
			res.mustSay(l, "; 1 result is not saved", "trial 1: ", "while it was in use", "hint: nothing more was started")
			if name == "directory moved" { // and with it, what the trial printed
				res.mustSay(l, "trial 1: not known, for its directory has gone: ", "spec.study/trials/000001/a1 with x=")
			} else {
				res.mustSay(l, "trial 1: loss = ")
			}
			if strings.Contains(res.err, "trial 1: failed") {
				t.Errorf("it had not failed:\n%s", res.err)
			}
			if runs := l.read("runs"); runs != "1\n" {
				t.Errorf("these trials ran: %q", runs)
			}
			l.check(c.giveBack(l))
			l.run(0, "run", "spec.toml")
			if runs := l.read("runs"); runs != "1\n2\n3\n4\n" {
				t.Errorf("these trials ran: %q", runs)
			}
		})
	}
}
