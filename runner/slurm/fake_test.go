package slurm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/tempdir"
)

// Environment of a test binary that plays another program.
const (
	roleEnv = "SLURMTEST_ROLE" // sbatch, squeue, scancel, job or exec
	dirEnv  = "SLURMTEST_DIR"  // of the fake cluster
)

// fakeCluster puts a cluster of one machine without limits in front of PATH: sbatch,
// squeue and scancel are this test binary, each job is a file in a directory.
func fakeCluster(t *testing.T) string {
	t.Helper()
	bin, dir := t.TempDir(), tempdir.New(t)
	for _, name := range []string{"sbatch", "squeue", "scancel"} {
		script := fmt.Sprintf("#!/bin/sh\n%s=%s exec '%s' \"$@\"\n", roleEnv, name, os.Args[0])
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv(dirEnv, dir)
	return dir
}

// fakeJob is a job of the fake cluster.
type fakeJob struct {
	ID     int
	Array  int // the id of the first of an array, 0 for a job of its own
	Task   int
	Name   string
	State  string
	Held   bool // no node may begin it
	Node   string
	PID    int
	Script string
	Output string
	Args   []string
}

func (j *fakeJob) path() string {
	return filepath.Join(os.Getenv(dirEnv), strconv.Itoa(j.ID)+".job")
}

// save makes the job visible as it is now.
func (j *fakeJob) save() {
	text, _ := json.Marshal(j)
	tmp := fmt.Sprintf("%s.%d.tmp", j.path(), os.Getpid())
	if err := os.WriteFile(tmp, text, 0o600); err == nil {
		_ = os.Rename(tmp, j.path())
	}
}

func fakeJobs() []*fakeJob {
	var jobs []*fakeJob
	for id := 1; ; id++ {
		j := &fakeJob{ID: id}
		text, err := os.ReadFile(j.path())
		if err != nil {
			return jobs
		}
		if json.Unmarshal(text, j) == nil {
			jobs = append(jobs, j)
		}
	}
}

// play is the main function of the programs that the test binary plays.
func play(role string, args []string) int {
	os.Unsetenv(roleEnv)
	if os.Getenv(dirEnv) == "" || fakeFails(role) { // its test is over, or wants it to fail
		return 1
	}
	if code, err := os.ReadFile(filepath.Join(os.Getenv(dirEnv), role+".exits")); err == nil { // in silence
		n, _ := strconv.Atoi(string(code))
		return n
	}
	switch role {
	case "sbatch":
		return fakeSbatch(args)
	case "squeue":
		return fakeSqueue(args)
	case "scancel":
		return fakeScancel(args)
	case "job":
		return fakeRun(args[0])
	}
	return 2
}

// fakeFails reports whether a program is to fail, and says so.
func fakeFails(role string) bool {
	words, err := os.ReadFile(filepath.Join(os.Getenv(dirEnv), role+".fails"))
	if err == nil {
		noteAsked(role)
		fmt.Fprintf(os.Stderr, "%s: error: %s", role, words)
	}
	return err == nil
}

// noteAsked lets a test see that a program was called.
func noteAsked(role string) {
	_ = os.WriteFile(filepath.Join(os.Getenv(dirEnv), role+".asked"), nil, 0o600)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func option(args []string, name string) string {
	for _, a := range args {
		if value, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

// shown is a job's id as squeue shows it.
func (j *fakeJob) shown() string {
	if j.Array == 0 {
		return strconv.Itoa(j.ID)
	}
	return fmt.Sprintf("%d_%d", j.Array, j.Task)
}

func fakeSbatch(args []string) int {
	tasks, array := strings.CutPrefix(option(args, "array"), "1-")
	n, _ := strconv.Atoi(tasks)
	base := 0
	for task := 1; task <= max(n, 1); task++ {
		j := &fakeJob{Name: option(args, "job-name"), State: "PENDING", Script: args[len(args)-1], Args: args}
		output := option(args, "output")
		if array {
			j.Array, j.Task = base, task
			output = strings.NewReplacer("%x", j.Name, "%a", strconv.Itoa(task)).Replace(output)
		}
		j.Output = output
		if code := fakeSubmit(j, array); code != 0 {
			return code
		}
		if base == 0 {
			base = j.ID
		}
	}
	fmt.Println(base)
	return 0
}

// lockCluster keeps others from submitting and releasing jobs until the function that it
// returns is called: no job may slip in as held when those that are held are let go.
func lockCluster() (unlock func()) {
	f, err := os.OpenFile(filepath.Join(os.Getenv(dirEnv), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		panic(err)
	}
	return func() { f.Close() }
}

func fakeSubmit(j *fakeJob, array bool) int {
	defer lockCluster()()
	j.Held = exists(filepath.Join(os.Getenv(dirEnv), "hold"))
	for j.ID = 1; ; j.ID++ {
		f, err := os.OpenFile(j.path(), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			break
		}
	}
	if array && j.Array == 0 {
		j.Array = j.ID
	}
	j.save()
	if j.Held {
		return 0
	}
	if err := j.begin(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// begin makes a node run the job.
func (j *fakeJob) begin() error {
	cmd := exec.Command(os.Args[0], strconv.Itoa(j.ID))
	cmd.Env = append(os.Environ(), roleEnv+"=job")
	if cmd.Dir = option(j.Args, "chdir"); !exists(cmd.Dir) { // as Slurm does
		cmd.Dir = "/tmp"
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// fakeRun is the node: it runs one job to its end.
func fakeRun(id string) int {
	n, _ := strconv.Atoi(id)
	j := &fakeJob{ID: n}
	text, err := os.ReadFile(j.path())
	if err != nil || json.Unmarshal(text, j) != nil || j.State != "PENDING" {
		return 1
	}
	out, err := os.OpenFile(j.Output, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		out = nil
	}
	cmd := exec.Command(j.Script)
	cmd.Path = "/bin/bash"
	cmd.Args = []string{"bash", j.Script}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), "SLURM_JOB_ID="+id, "SLURMD_NODENAME=fake1", "SLURM_JOB_NAME="+j.Name,
		"SLURM_ARRAY_JOB_ID="+strconv.Itoa(j.Array), "SLURM_ARRAY_TASK_ID="+strconv.Itoa(j.Task))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	if err == nil {
		j.State, j.Node, j.PID = "RUNNING", "fake1", cmd.Process.Pid
		j.save()
		err = cmd.Wait()
	}
	end := "COMPLETED"
	if err != nil {
		end = "FAILED"
	}
	if words, err := os.ReadFile(j.path() + ".end"); err == nil {
		end = string(words)
	}
	j.State = end
	j.save()
	return 0
}

func fakeSqueue(args []string) int {
	names := strings.Split(option(args, "name"), ",")
	jobs := fakeJobs()
	if fakeFails("squeue") { // since it was begun
		return 1
	}
	noteAsked("squeue")
	for _, j := range jobs {
		for _, name := range names {
			if j.Name == name && j.State != "FORGOTTEN" {
				fmt.Printf("%s|%s|%s|None|%s\n", j.shown(), j.State, j.Node, j.Name)
			}
		}
	}
	return 0
}

func fakeScancel(args []string) int {
	last := args[len(args)-1]
	for _, j := range fakeJobs() {
		ours := slices.Contains(strings.Split(option(args, "name"), ","), j.Name)
		if only := option(args, "state"); !ours || only != "" && only != j.State || last[0] != '-' && last != j.shown() {
			continue
		}
		switch {
		case j.State == "RUNNING" && option(args, "signal") == "TERM":
			_ = syscall.Kill(j.PID, syscall.SIGTERM)
		case j.State == "RUNNING":
			_ = os.WriteFile(j.path()+".end", []byte("CANCELLED"), 0o600)
			_ = syscall.Kill(-j.PID, syscall.SIGTERM)
		case j.State == "PENDING" && option(args, "signal") == "":
			j.State = "CANCELLED"
			j.save()
		}
	}
	return 0
}
