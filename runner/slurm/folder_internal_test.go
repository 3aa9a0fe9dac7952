package slurm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/runner"
)

// What an attempt that waits is to hold is known from its folder, without a directory of its own, also to a session
// that a program has given a Launcher as it is.
func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a1")
	l, is := runner.Launcher(&Launcher{}).(kinds.Keeper)
	if !is {
		t.Fatal("a session does not know in which slot an attempt waits")
	}
	f := folderOf(dir)
	if _, kept := l.Kept(dir, "slot"); kept {
		t.Error("an attempt is kept that nobody has launched")
	}
	in := intent{Version: intentVersion, Job: orderOf(runner.Job{Files: []runner.File{{Name: "params.json"}, {Name: "slot", Content: []byte("1\n")}}})}
	if err := errors.Join(os.Mkdir(string(f), 0o700), f.writeJSON(intentName, in)); err != nil {
		t.Fatal(err)
	}
	if text, kept := l.Kept(dir, "slot"); !kept || string(text) != "1\n" {
		t.Errorf("the slot is %q, %v", text, kept)
	}
	if text, kept := l.Kept(dir, "other"); !kept || text != nil {
		t.Errorf("a file that there is not to be holds %q, %v", text, kept)
	}
}

// What a trial puts in the place of a file of its job's folder is not followed or waited for.
func TestFolderFollowsNothing(t *testing.T) {
	dir := t.TempDir()
	f, file, pipe := folder(filepath.Join(dir, "a1.slurm")), filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	err := errors.Join(os.Mkdir(string(f), 0o700), os.WriteFile(file, []byte(`{"state":"X"}`), 0o600), syscall.Mkfifo(pipe, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for what, put := range map[string]func(path string) error{
		"link to a file": func(path string) error { return os.Symlink(file, path) },
		"link to a pipe": func(path string) error { return os.Symlink(pipe, path) },
		"pipe":           func(path string) error { return os.Link(pipe, path) },
	} {
		t.Run(what, func(t *testing.T) {
			for _, name := range []string{stopName, submittedName, beatName, lostName} {
				if err := put(f.path(name)); err != nil {
					t.Fatal(err)
				}
			}
			ids, _ := f.read(submittedName)
			if why, n := f.stopped(), len(ids); why != "" || n != 0 {
				t.Errorf("asked to stop by %q, %d submissions", why, n)
			}
			if err := f.addSubmission("1"); err == nil || !strings.Contains(err.Error(), f.path(submittedName)+": it is a ") {
				t.Errorf("a submission was added: %v", err)
			}
			var l loss
			if _, err := f.readJSON(lostName, &l); err == nil || l.State != "" {
				t.Errorf("lost by %q, %v", l.State, err)
			}
			die := f.live(1 << 40)
			die()
			if text, err := os.ReadFile(file); err != nil || string(text) != `{"state":"X"}` {
				t.Fatalf("the file behind the link is now %q, %v", text, err)
			}
			for _, name := range []string{stopName, submittedName, beatName, lostName} {
				if err := os.Remove(f.path(name)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// An attempt hears of a SIGTERM as long as it runs and no longer: a pilot runs thousands.
func TestAttemptListensWhileItRuns(t *testing.T) {
	if f := folder(os.Getenv("LBOTUNE_TEST_FOLDER")); f != "" {
		_, err := f.run(new(runner.Local), &intent{Beat: time.Minute, Job: order{ID: "a", Shell: "exit 3"}}, func() {})
		if err == nil && f.has(endingName) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		}
		time.Sleep(time.Minute) // nobody listens: this process does not come to its end
		t.Fatal(err)
	}
	f := folder(filepath.Join(t.TempDir(), "a1"+suffix))
	if err := os.Mkdir(string(f), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.writeJSON(intentName, intent{}); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAttemptListensWhileItRuns$")
	c.Env = append(os.Environ(), "LBOTUNE_TEST_FOLDER="+string(f))
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("the process that ran an attempt has ended with %v\n%s", err, out)
	}
}

// The cluster loses a trial so often in a row: what ended otherwise begins the count anew.
func TestLossesInARow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[lr]", "000001")
	at := func(n int) folder { return folderOf(filepath.Join(dir, fmt.Sprint("a", n))) }
	note := func(n int, name string) {
		if err := errors.Join(os.MkdirAll(string(at(n)), 0o700), at(n).writeJSON(name, loss{State: fmt.Sprint(n)})); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= 12; n++ {
		note(n, lostName)
		if n == 3 || n == 9 { // Slurm has ended it by a signal
			note(n, endingName)
		}
		if n%5 == 0 {
			note(n, endingName)
			at(n).strike(lostName)
		}
	}
	if got := fmt.Sprint(at(13).losses()); got != "[11 12]" {
		t.Errorf("losses %s", got)
	}
}

// An attempt that ran on a node which cannot tell how it ended is lost, and no node refuses it.
func TestLostOnItsNode(t *testing.T) {
	f := folder(filepath.Join(t.TempDir(), "a1"+suffix))
	if err := os.Mkdir(string(f), 0o700); err != nil {
		t.Fatal(err)
	}
	var e ending
	written := ending{Node: "n1", Refusal: refusalOf(fmt.Errorf("attempt x: %w", runner.ErrLost))}
	if text, err := json.Marshal(written); err != nil || json.Unmarshal(text, &e) != nil {
		t.Fatal(err)
	}
	w := &watch{Launcher: new(Launcher), folder: f, intent: new(intent)}
	if exit, err := w.ended(&e); !errors.Is(err, runner.ErrLost) {
		t.Errorf("%+v, %v", exit, err)
	}
	if got := fmt.Sprint(folderOf(filepath.Join(filepath.Dir(string(f)), "a2")).losses()); got != "[a missing exit status on node n1]" {
		t.Errorf("losses %s", got)
	}
}

// An attempt that is killed while its start fails for the moment was never begun.
func TestKilledBeforeItBegan(t *testing.T) {
	dir := t.TempDir()
	f := folder(filepath.Join(dir, "a1"+suffix))
	program := filepath.Join(dir, "program")
	if err := errors.Join(os.Mkdir(string(f), 0o700), f.writeJSON(intentName, intent{}),
		os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	busy, err := os.OpenFile(program, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	asked := sync.OnceFunc(func() {
		if err := f.write(stopName, []byte(stopKill)); err != nil {
			t.Error(err)
		}
	})
	e, err := f.run(new(runner.Local), &intent{Beat: time.Minute, Job: order{ID: "a", Argv: []text{text(program)}}}, asked)
	if err == nil && e.Exit != nil && e.Exit.Killed {
		return // the supervisor had not yet been told that the program is busy, and was killed
	}
	if !errors.Is(err, errAsked) || f.has(endingName) || f.claimed() {
		t.Errorf("%v; %v", err, f.names())
	}
}

// What one seat of a pilot runs tells how long an attempt in another one may take.
func TestFitsBesideAnother(t *testing.T) {
	for _, c := range []struct {
		age, left time.Duration
		fits      bool
	}{
		{time.Second, 10 * time.Minute, true}, // it has just begun: nothing is known
		{time.Hour, 30 * time.Minute, false},
		{time.Hour, 2 * time.Hour, true},
	} {
		t.Run(fmt.Sprint(c.age, c.left), func(t *testing.T) {
			since := time.Now().Add(-c.age)
			p := &pilot{crew: crew{Idle: time.Minute}, seats: 2, began: since, ends: time.Now().Add(c.left),
				begun: 1, runs: map[string]time.Time{"wait-1": since}}
			if got := p.fits(new(intent)); got != c.fits {
				t.Errorf("%v left, beside one that has run for %v: fits %v", c.left, c.age, got)
			}
		})
	}
}

// A timeout that was raised holds for what a job has ended by the one that it knew.
func TestRaisedTimeout(t *testing.T) {
	for now, lost := range map[time.Duration]bool{0: true, time.Hour: true, 3 * time.Second: false, time.Second: false} {
		t.Run(fmt.Sprint(now), func(t *testing.T) {
			f := folder(filepath.Join(t.TempDir(), "a1"+suffix))
			w := &watch{Launcher: new(Launcher), folder: f, intent: &intent{Job: order{Timeout: 3 * time.Second}}, job: runner.Job{Timeout: now}}
			exit, err := w.ended(&ending{Exit: &runner.Exit{Code: 143, TimedOut: true}})
			if errors.Is(err, runner.ErrLost) != lost || (exit != nil && exit.TimedOut) == lost {
				t.Errorf("the timeout is %v now: %+v, %v", now, exit, err)
			}
		})
	}
}

// A timeout that the job does not know counts by its node's clock, whatever the one here says.
func TestLateByTheClockOfTheNode(t *testing.T) {
	here := time.Now()
	for name, c := range map[string]struct {
		started, first, beat time.Time
		late                 bool
	}{
		"this clock was set forward":     {here.Add(-time.Hour), here.Add(-time.Hour), here.Add(3*time.Second - time.Hour), false},
		"this clock was set back":        {here.Add(time.Hour), here.Add(time.Hour), here.Add(time.Minute + time.Hour), true},
		"the file system's is fast":      {here, here.Add(time.Hour), here.Add(time.Hour), false},
		"nothing was seen":               {here.Add(-time.Hour), time.Time{}, here, false},
		"all agree, and it is over time": {here.Add(-time.Minute), here.Add(-30 * time.Second), here, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(filepath.Join(t.TempDir(), "a1"+suffix))
			w := &watch{folder: f, intent: new(intent), job: runner.Job{Timeout: 10 * time.Second}, sight: runner.Sight{PID: 1, Started: c.started}}
			beat := func(at time.Time) {
				if err := f.in(func(d *door.Dir) error { return d.Touch(beatName, at) }); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.Mkdir(string(f), 0o700), f.write(beatName, nil)); err != nil {
				t.Fatal(err)
			}
			if !c.first.IsZero() {
				beat(c.first)
				w.beat = f.beat()
			}
			beat(c.beat)
			if got := w.late(); got != c.late {
				t.Errorf("late: %v", got)
			}
		})
	}
}

// A study that was restored in its place finds a job of the former one at work, and ends it.
func TestRestoredInPlace(t *testing.T) {
	job := runner.Job{Dir: filepath.Join(t.TempDir(), "a1"), ID: "s/1/1", Shell: "exit 4"}
	f := folderOf(job.Dir)
	if err := os.Mkdir(string(f), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.writeJSON(intentName, intent{Version: intentVersion, Inode: f.inode() + 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := new(Launcher).Attach(t.Context(), job); !errors.Is(err, runner.ErrCopied) || f.stopped() != stopLost {
		t.Errorf("%v; asked to end by %q", err, f.stopped())
	}
}

// A study's own job has one name, by whatever path the study is named.
func TestRelayByAnotherPath(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	one, other := relay{Launcher: &Launcher{Dir: dir}}, relay{Launcher: &Launcher{Dir: link}}
	if one.name() != other.name() {
		t.Errorf("%s and %s", one.name(), other.name())
	}
}

// An attempt that begins in a pilot's second seat after another one has ended has not the whole time.
func TestLateInAPilot(t *testing.T) {
	for _, c := range []struct {
		longest, timeout time.Duration
		takes, wholeTime bool
	}{
		{0, 2 * time.Hour, true, true},
		{time.Minute, 10 * time.Minute, true, false},
		{time.Minute, 2 * time.Hour, false, false},
	} {
		t.Run(fmt.Sprint(c.longest, c.timeout), func(t *testing.T) {
			dir := t.TempDir()
			f, pool := folderOf(filepath.Join(dir, "a1")), folder(filepath.Join(dir, "pool"))
			in := &intent{Version: intentVersion, Name: "x", Job: order{Timeout: c.timeout}}
			err := errors.Join(os.Mkdir(string(f), 0o700), os.Mkdir(string(pool), 0o700), f.writeJSON(intentName, in), os.Symlink(string(f), pool.path(in.entry())))
			if err != nil {
				t.Fatal(err)
			}
			p := &pilot{crew: crew{Idle: time.Minute}, seats: 2, pool: pool, began: time.Now(), ends: time.Now().Add(time.Hour),
				begun: 1, longest: c.longest, tried: make(map[string]bool), runs: make(map[string]time.Time)}
			if _, in, first := p.take(in.entry()); (in != nil) != c.takes || first != c.wholeTime {
				t.Errorf("%+v: taken: %v, with the whole time: %v", c, in != nil, first)
			}
		})
	}
}

// What a command has written is waited for wherever in the attempt's directory it is.
func TestFilesBelow(t *testing.T) {
	f := folderOf(filepath.Join(t.TempDir(), "a1"))
	below := filepath.Join(f.attempt(), "out", "best")
	if err := errors.Join(os.MkdirAll(below, 0o700), os.WriteFile(filepath.Join(f.attempt(), "top"), []byte("1"), 0o600),
		os.WriteFile(filepath.Join(below, "result"), []byte("0.25\n"), 0o600), os.Symlink("/", filepath.Join(f.attempt(), "away"))); err != nil {
		t.Fatal(err)
	}
	if got := f.files(); !maps.Equal(got, map[string]int64{"top": 1, "out/best/result": 5}) {
		t.Errorf("waits for %v", got)
	}
}

// A network file system may show a file that the command has written after the end of the attempt: every
// look waits for it until it is there, or patience ends.
func TestResultComesLate(t *testing.T) {
	for name, since := range map[string]time.Duration{"and comes": 0, "and does not come": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			job := runner.Job{Dir: filepath.Join(t.TempDir(), "a1"), ID: "s/1/1", Shell: "exit 4"}
			f, whole := folderOf(job.Dir), since == 0
			e := ending{Job: "1", Node: "n1", Exit: &runner.Exit{}, Files: map[string]int64{"out/result": 2}}
			if err := errors.Join(os.Mkdir(string(f), 0o700), os.MkdirAll(filepath.Join(job.Dir, "out"), 0o700), f.writeJSON(endingName, e)); err != nil {
				t.Fatal(err)
			}
			w := &watch{Launcher: &Launcher{Settings: Settings{Poll: time.Hour}}, folder: f, intent: new(intent), job: job, tail: time.Now().Add(-since)}
			for look, text := range []string{"", "1", "1\n"} {
				if text != "" && whole {
					if err := os.WriteFile(filepath.Join(job.Dir, "out", "result"), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				exit, err := w.look(t.Context())
				if over := !whole || look == 2; err != nil || (exit != nil) != over {
					t.Errorf("with %q: %+v, %v", text, exit, err)
				}
			}
		})
	}
}
