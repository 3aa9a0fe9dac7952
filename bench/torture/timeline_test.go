//go:build linux

package torture_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// killedWhile starts spec.toml, kills lbotune while its first trial runs, and lets that go on.
func (l *lab) killedWhile(running string) {
	l.Helper()
	r := l.start("run", "spec.toml")
	l.await(running, func() bool { return l.wrote(running) })
	l.check(r.Process.Kill())
	r.end().must(l, 137)
}

// awaitExit waits until the supervisor of an attempt has written down the end of it.
func (l *lab) awaitExit(dir string) {
	l.Helper()
	l.await("the end of "+dir, func() bool { return strings.Contains(l.read(dir+"/attempt.jsonl"), `"exit"`) })
}

// value returns the value of a trial of spec.toml.
func (l *lab) value(trial int) float64 {
	l.Helper()
	return l.load().Trials[trial-1].Value
}

// An attempt that was started by an older command never counts for the new one: one that
// lives is ended, and either runs again.
func TestEditedCommand(t *testing.T) {
	for name, ended := range map[string]bool{"lives": false, "has ended": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			command := "cd " + l.dir + "; echo old >> log; until test -e go; do sleep 0.02; done; echo loss=111; : {x}"
			l.spec("spec.toml", command, 1, 1)
			l.killedWhile("log")
			if ended {
				l.write("go", "")
				l.awaitExit("spec.study/trials/000001/a1")
			}
			l.spec("spec.toml", "cd "+l.dir+"; echo new >> log; echo loss=222; : {x}", 1, 1)
			l.run(0, "run", "spec.toml").mustSay(l, "attempt 1: the attempt does not count: it was made with other values, another command or another metric")
			if v := l.value(1); v != 222 {
				t.Errorf("the value is %v", v)
			}
			l.checkLog("log", "old\nnew\n")
			if alive := l.alive(); len(alive) > 0 {
				t.Errorf("alive: %v", alive)
			}
		})
	}
}

// So it is with everything that makes a result what it is; with other changes the attempt
// counts.
func TestEditedSpec(t *testing.T) {
	for name, c := range map[string]struct {
		edit [2]string
		want string
	}{
		"metric":  {[2]string{`metric = "loss"`, `metric = "acc"`}, "1.1\n1.2\n"},
		"env":     {[2]string{`workers = 1`, "workers = 1\nenv = { MODE = \"b\" }"}, "1.1\n1.2\n"},
		"cwd":     {[2]string{`workers = 1`, "workers = 1\ncwd = \"/\""}, "1.1\n1.2\n"},
		"workers": {[2]string{`workers = 1`, "workers = 2\ntimeout = \"1h\""}, "1.1\n"},
		"budget":  {[2]string{`trials = 1`, "trials = 1\ntime = \"1h\""}, "1.1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", "echo {trial}.{attempt} >> "+l.path("log")+"; echo loss={x}; echo acc={x}", 1, 1)
			l.write("slow.toml", strings.Replace(l.read("spec.toml"), "echo loss", "until test -e "+l.path("go")+"; do sleep 0.02; done; echo loss", 1))
			l.check(os.Rename(l.path("slow.toml"), l.path("spec.toml")))
			l.killedWhile("log")
			l.write("go", "")
			l.awaitExit("spec.study/trials/000001/a1")
			l.write("spec.toml", strings.Replace(l.read("spec.toml"), c.edit[0], c.edit[1], 1))
			l.run(0, "run", "spec.toml")
			l.checkLog("log", c.want)
		})
	}
}

// remembers is a command that shows what it finds in its directory for checkpoints.
func (l *lab) remembers() string {
	return "cd " + l.dir + "; echo {trial}.{attempt} {x} $(cat {checkpoint_dir}/x 2>&-) >> log; echo {x} > {checkpoint_dir}/x; echo loss={x}"
}

// linesUpTo returns a journal up to the n-th line that holds the text.
func linesUpTo(journal, text string, n int) string {
	end := 0
	for line := range strings.Lines(journal) {
		end += len(line)
		if strings.Contains(line, text) {
			if n--; n == 0 {
				break
			}
		}
	}
	return journal[:end]
}

// Directories that are left of another course of the study, here because its journal was
// put back from a backup, are told from those of this one: no result and no checkpoint of
// other values is taken.
func TestJournalFromBackup(t *testing.T) {
	const path = "spec.study/journal.jsonl"
	for name, killed := range map[string]bool{"and goes on": false, "and is killed before it starts a trial": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", l.remembers(), 3, 1)
			l.run(0, "run", "spec.toml")
			backup := linesUpTo(l.read(path), `"type":"finished"`, 2)
			l.write(path, backup)
			l.run(0, "enqueue", "spec.study", "x=0.111")
			if killed {
				// As if it had been: the proposal is recorded, and the directories are the old ones.
				l.copyStudy("spec.study/trials", "trials")
				l.run(0, "run", "spec.toml")
				l.write(path, linesUpTo(l.read(path), `"type":"proposed"`, 3))
				l.check(os.RemoveAll(l.path("spec.study/trials")))
				l.check(os.Rename(l.path("trials"), l.path("spec.study/trials")))
			}
			l.write("log", "")
			l.run(0, "run", "spec.toml").mustSay(l, "attempt 1: the attempt does not count: it was made with other values")
			if v := l.value(3); v != 0.111 {
				t.Errorf("trial 3 has the value %v", v)
			}
			l.checkLog("log", "3.2 0.111\n")
		})
	}
}

// What the same course of the study has left behind counts: nothing runs twice.
func TestJournalFromBackupAgain(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", l.remembers(), 3, 1)
	l.run(0, "run", "spec.toml")
	want, log := l.unclocked("spec.study"), l.read("log")
	l.write("spec.study/journal.jsonl", linesUpTo(l.read("spec.study/journal.jsonl"), `"type":"finished"`, 1))
	l.run(0, "run", "spec.toml")
	l.checkLog("log", log)
	if got := l.unclocked("spec.study"); got != want {
		t.Errorf("the study is\n%s\nand was\n%s", got, want)
	}
}

// Without its journal, what a study has left is not taken for a new one's.
func TestJournalRemoved(t *testing.T) {
	l := newLab(t)
	l.spec("spec.toml", "echo loss={x}", 2, 1)
	l.run(0, "run", "spec.toml")
	l.check(os.Remove(l.path("spec.study/journal.jsonl")))
	l.run(2, "run", "spec.toml").mustSay(l, "there is no journal in "+l.path("spec.study")+", but "+l.path("spec.study/trials")+" is there, as in a former study")
	l.check(os.RemoveAll(l.path("spec.study")))
	l.run(0, "run", "spec.toml")
}

// What a leftover prints counts until it is asked to end, a second after the command's end,
// and not after that: the same each time, whoever is there to see it.
func TestLateValues(t *testing.T) {
	bash, missing := exec.LookPath("bash")
	for name, c := range map[string]struct {
		command string
		want    float64
	}{
		"that ends by itself":   {`mkfifo {trial_dir}/end; (trap "" TERM; read over <{trial_dir}/end; echo loss=99) & exec 3>{trial_dir}/end; echo loss=0.5; : {x}`, 99},
		"that is asked to end":  {`sh -c 'trap "echo loss=99; exit" TERM; echo up; while :; do sleep 0.01; done' & until grep -q up {trial_dir}/stdout; do sleep 0.01; done; echo loss=0.5; : {x}`, 0.5},
		"that ends by SIGKILL":  {`sh -c 'asked=; trap "asked=1" TERM; echo up; while :; do test -z "$asked" || echo loss=99; sleep 0.01; done' & until grep -q up {trial_dir}/stdout; do sleep 0.01; done; echo loss=0.5; : {x}`, 0.5},
		"that all goes through": {`: {x}; exec ` + bash + ` -c 'exec > >(read line; while kill -0 $$; do :; done; echo $line); echo loss=0.5' 2>/dev/null`, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			if missing != nil && strings.Contains(c.command, " "+bash+" -c ") {
				t.Skip(missing)
			}
			l := newLab(t)
			l.spec("spec.toml", c.command, 3, 3)
			l.run(0, "run", "spec.toml")
			l.write("spec.toml", strings.Replace(l.read("spec.toml"), "[budget]", "[prune]\nmethod = \"threshold\"\nthreshold = 1000\n[budget]", 1))
			l.run(0, "run", "spec.toml", "--trials", "6") // the pruner reads along
			for i := range l.load().Trials {
				if v := l.value(i + 1); v != c.want {
					t.Errorf("trial %d has the value %v; want %v", i+1, v, c.want)
				}
			}
		})
	}
}

// A trial that has ended before a power cut, which took some of its output, is run again.
func TestOutputLostInAPowerCut(t *testing.T) {
	for name, keep := range map[string]int64{"all of it": 0, "its end": int64(len("loss=99\n"))} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", "cd "+l.dir+"; echo {trial}.{attempt} >> log; until test -e go; do sleep 0.02; done; echo loss=99; echo loss={x}", 1, 1)
			l.killedWhile("log")
			l.write("go", "")
			const dir = "spec.study/trials/000001/a1"
			l.awaitExit(dir)
			l.check(os.Truncate(l.path(dir+"/stdout"), keep))
			l.write(dir+"/attempt.jsonl", regexp.MustCompile(`"boot":"[^"]*"`).ReplaceAllString(l.read(dir+"/attempt.jsonl"), `"boot":"x"`))
			l.run(0, "run", "spec.toml").mustSay(l, "attempt 1: the attempt was lost")
			l.checkLog("log", "1.1\n1.2\n")
			if x, _ := l.load().Trials[0].Values()[0].Value.Number(); l.value(1) != x {
				t.Errorf("the value is %v; want %v", l.value(1), x)
			}
		})
	}
}
