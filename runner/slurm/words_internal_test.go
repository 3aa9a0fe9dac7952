package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/runner"
)

// Memory "0" is all that a node has, as sbatch takes it, and not what the site gives unasked.
func TestAllMemory(t *testing.T) {
	if got := (Settings{Memory: "0"}).args(); !slices.Contains(got, "--mem=0") {
		t.Errorf("%q", got)
	}
}

// Nodes that have lost a trial are avoided beside those that the user excludes.
func TestAvoidsBesideTheUsers(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sbatch"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		extra []string
		want  string
	}{
		{nil, "--parsable --exclude=n2,n3 job.sh"},
		{[]string{"--exclude=n7", "--exclusive"}, "--parsable --exclude=n7 --exclusive --exclude=n7,n2,n3 job.sh"},
		{[]string{"--exclude", "n7"}, "--parsable --exclude n7 --exclude=n7,n2,n3 job.sh"},
		{[]string{"-xn7"}, "--parsable -xn7 --exclude=n7,n2,n3 job.sh"},
		{[]string{"-x", "n[7-9]"}, "--parsable -x n[7-9] --exclude=n[7-9],n2,n3 job.sh"},
	} {
		t.Run(fmt.Sprint(c.extra), func(t *testing.T) {
			out, err := sbatch(context.Background(), append([]string{"--parsable"}, c.extra...), []string{"n2", "n3"}, "job.sh")
			if err != nil || out != c.want {
				t.Errorf("with %q: %s, %v; want %s", c.extra, out, err, c.want)
			}
		})
	}
}

// Slurm's queue is seen also of more jobs than one command can name.
func TestManyJobs(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\nfor arg; do case $arg in --name=*) printf '%s\\n' \"${arg#--name=}\" | tr , '\\n' | sed 's/^/1|RUNNING|n1|/';; esac; done\n"
	if err := os.WriteFile(filepath.Join(dir, "squeue"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	var names []string
	for range 3000 {
		names = append(names, jobName("a-study-of-some-length/123456/1"))
	}
	jobs, err := list(t.Context(), names)
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(jobs[name]) == 1 })
	if err != nil || len(jobs) != len(names) || len(missing) > 0 {
		t.Errorf("%d jobs of %d, without %d, %v", len(jobs), len(names), len(missing), err)
	}
}

// A limit on how many jobs one may submit passes; one on what a job may ask for does not.
func TestWhatPasses(t *testing.T) {
	const policy = "\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
	for text, want := range map[string]bool{
		"sbatch: error: QOSMaxSubmitJobPerUserLimit" + policy:   true,
		"sbatch: error: AssocMaxSubmitJobLimit" + policy:        true,
		"sbatch: error: AssocGrpSubmitJobsLimit" + policy:       true,
		strings.TrimSpace(policy):                               true, // an old Slurm does not say which
		"sbatch: error: QOSMaxWallDurationPerJobLimit" + policy: false,
		"sbatch: error: QOSMaxCpuPerUserLimit" + policy:         false,
		"sbatch: error: Socket timed out on send/recv":          true,
		"sbatch: error: invalid partition specified: x":         false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := passes(&commandError{name: "sbatch", text: text, err: errors.New("exit status 1")}); got != want {
				t.Errorf("%q passes: %v", text, got)
			}
		})
	}
	if passes(&commandError{name: "sbatch", err: exec.ErrNotFound}) {
		t.Error("a program that is not there will be by itself")
	}
}

// Slurm says in its own words that a job took too much memory; what a site says of the limit is none of them.
func TestOutOfMemory(t *testing.T) {
	for text, want := range map[string]bool{
		"slurmstepd: error: Exceeded job memory limit":                                    true,
		"slurmstepd: error: Job 7 exceeded memory limit (41000 > 40960), being killed":    true,
		"slurmstepd: error: Step 7.0 exceeded virtual memory limit (9 > 8), being killed": true,
		"Welcome to this node. Your memory limit is 4000 MB.":                             false,
	} {
		t.Run(text, func(t *testing.T) {
			f := folder(filepath.Join(t.TempDir(), "a1"+suffix))
			if err := errors.Join(os.Mkdir(string(f), 0o700), f.write(outputName, []byte(text+"\n"))); err != nil {
				t.Fatal(err)
			}
			w := &watch{Launcher: new(Launcher), folder: f, intent: new(intent)}
			exit, err := w.explain(runner.Exit{Code: 137, Signal: "SIGKILL"}, queued{state: "FAILED"}, false)
			if err != nil || strings.Contains(exit.Cause, "out of memory") != want {
				t.Errorf("%q: %+v, %v", text, exit, err)
			}
		})
	}
}

// An end that says nothing, written by whoever, is an error and ends nothing else.
func TestEmptyEnding(t *testing.T) {
	f := folder(filepath.Join(t.TempDir(), "a1"+suffix))
	if err := errors.Join(os.Mkdir(string(f), 0o700), f.write(endingName, []byte("{}\n"))); err != nil {
		t.Fatal(err)
	}
	w := &watch{Launcher: new(Launcher), folder: f, intent: new(intent)}
	if exit, err := w.look(t.Context()); err == nil {
		t.Errorf("%+v", exit)
	}
}

// Slurm is asked nothing more of the jobs of an attempt that has ended.
func TestNobodyWantsWhatHasEnded(t *testing.T) {
	f, in := folder(filepath.Join(t.TempDir(), "a1"+suffix)), &intent{Name: "lbotune-1"}
	if err := errors.Join(os.Mkdir(string(f), 0o700), f.writeJSON(endingName, ending{Exit: new(runner.Exit)})); err != nil {
		t.Fatal(err)
	}
	l := &Launcher{queue: queue{wanted: map[string]time.Time{}}}
	l.jobsOf(in.Name, time.Now())
	w := &watch{Launcher: l, folder: f, intent: in}
	if exit, err := w.see(t.Context()); err != nil || len(l.queue.wanted) > 0 {
		t.Errorf("%+v, %v; wanted: %v", exit, err, l.queue.wanted)
	}
}
