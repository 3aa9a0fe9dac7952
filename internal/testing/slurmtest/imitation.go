package slurmtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/tempdir"
	"github.com/lbotune/lbotune/runner/slurm"
)

// Environment of a program that plays another.
const (
	roleEnv   = "SLURMTEST_ROLE"   // sbatch, squeue, scancel, job or exec
	dirEnv    = "SLURMTEST_DIR"    // of the imitated cluster
	playerEnv = "SLURMTEST_PLAYER" // the path of a small program that plays, where it has been built
)

// Exec is the command that runs the test binary as a job's program.
var Exec = []string{"/usr/bin/env", roleEnv + "=exec", os.Args[0]}

// Dir is the directory of the imitated cluster. A file NAME.fails in it makes the program NAME fail with
// its words, NAME.exits makes it exit with that code in silence, and hold lets no job begin.
func Dir() string { return os.Getenv(dirEnv) }

// Run runs the tests of a test binary, or plays another program if the binary is there for that.
func Run(m *testing.M) int {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // not a second for each process of a raced test
	}
	Play()
	_ = flag.Set("test.parallel", "16") // however few processors there are: they wait for programs
	if os.Getenv(playerEnv) != "" {     // another test binary runs this one
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "slurmtest-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv(playerEnv, filepath.Join(dir, "player"))
	return m.Run()
}

// build makes the player: a raced test binary takes ten times as long to start.
var build = sync.OnceValue(func() error {
	path := os.Getenv(playerEnv)
	if exists(path) {
		return nil
	}
	cmd := exec.Command("go", "build", "-o", path, "github.com/lbotune/lbotune/internal/testing/slurmtest/player")
	cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	return cmd.Run()
})

// Imitate puts a cluster of one machine in front of PATH.
func Imitate(t *testing.T) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), tempdir.New(t)
	for _, name := range []string{"sbatch", "squeue", "scancel"} {
		script := fmt.Sprintf("#!/bin/sh\n%s=%s exec '%s' \"$@\"\n", roleEnv, name, os.Getenv(playerEnv))
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv(dirEnv, dir)
	return dir
}

// Job is a job of the imitated cluster.
type Job struct {
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

func (j *Job) path() string {
	return filepath.Join(Dir(), strconv.Itoa(j.ID)+".job")
}

// Save makes the job visible as it is now.
func (j *Job) Save() {
	text, _ := json.Marshal(j)
	tmp := fmt.Sprintf("%s.%d.tmp", j.path(), os.Getpid())
	if errors.Join(os.WriteFile(tmp, text, 0o600), os.Chmod(tmp, 0o600)) == nil { // whatever the umask of who submits
		_ = os.Rename(tmp, j.path())
	}
}

// Jobs are those of the imitated cluster, in the order of their submission.
func Jobs() []*Job {
	var jobs []*Job
	for id := 1; ; id++ {
		j := &Job{ID: id}
		text, err := os.ReadFile(j.path())
		if err != nil {
			return jobs
		}
		if json.Unmarshal(text, j) == nil {
			jobs = append(jobs, j)
		}
	}
}

// Play does not return from a program that plays another.
func Play() {
	role := os.Getenv(roleEnv)
	if role == "" {
		return
	}
	os.Unsetenv(roleEnv)
	if role != "exec" {
		os.Exit(play(role, os.Args[1:]))
	}
	if err := slurm.Exec(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func play(role string, args []string) int {
	if Dir() == "" || fails(role) { // its test is over, or wants it to fail
		return 1
	}
	if code, err := os.ReadFile(filepath.Join(Dir(), role+".exits")); err == nil { // in silence
		n, _ := strconv.Atoi(string(code))
		return n
	}
	programs := map[string]func([]string) int{"sbatch": sbatch, "squeue": squeue, "scancel": scancel, "job": runJob}
	return programs[role](args)
}

// fails reports whether a program is to fail, and says so.
func fails(role string) bool {
	words, err := os.ReadFile(filepath.Join(Dir(), role+".fails"))
	if err == nil {
		noteAsked(role)
		fmt.Fprintf(os.Stderr, "%s: error: %s", role, words)
	}
	return err == nil
}

// noteAsked lets a test see that a program was called.
func noteAsked(role string) {
	_ = os.WriteFile(filepath.Join(Dir(), role+".asked"), nil, 0o600)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Option is the value of --name of sbatch.
func (j *Job) Option(name string) string { return option(j.Args, name) }

func option(args []string, name string) string {
	for _, a := range args {
		if value, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

// Shown is a job's id as squeue shows it.
func (j *Job) Shown() string {
	if j.Array == 0 {
		return strconv.Itoa(j.ID)
	}
	return fmt.Sprintf("%d_%d", j.Array, j.Task)
}

func sbatch(args []string) int {
	defer Lock()()
	tasks, array := strings.CutPrefix(option(args, "array"), "1-")
	n, _ := strconv.Atoi(tasks)
	first := len(Jobs()) + 1
	for i := range max(n, 1) {
		j := &Job{ID: first + i, Name: option(args, "job-name"), State: "PENDING", Held: exists(filepath.Join(Dir(), "hold")),
			Script: args[len(args)-1], Output: option(args, "output"), Args: args}
		if array {
			j.Array, j.Task = first, i+1
			j.Output = strings.NewReplacer("%x", j.Name, "%a", strconv.Itoa(j.Task)).Replace(j.Output)
		}
		j.Save()
		if j.Held {
			continue
		}
		if err := j.Begin(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	fmt.Println(first)
	return 0
}

// Lock keeps others from submitting and releasing jobs, so that none slips in, until it is undone.
func Lock() (unlock func()) {
	f, err := os.OpenFile(filepath.Join(Dir(), "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = errors.Join(f.Chmod(0o600), syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	}
	if err != nil {
		panic(err)
	}
	return func() { f.Close() }
}

// Begin makes a node run the job.
func (j *Job) Begin() error {
	cmd := exec.Command(os.Getenv(playerEnv), strconv.Itoa(j.ID))
	cmd.Env = append(os.Environ(), roleEnv+"=job")
	if cmd.Dir = j.Option("chdir"); !exists(cmd.Dir) { // as Slurm does
		cmd.Dir = "/tmp"
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// runJob is the node: it runs one job to its end.
func runJob(args []string) int {
	n, _ := strconv.Atoi(args[0])
	j := &Job{ID: n}
	text, err := os.ReadFile(j.path())
	if err != nil || json.Unmarshal(text, j) != nil || j.State != "PENDING" {
		return 1
	}
	out, _ := os.OpenFile(j.Output, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) // or none
	cmd := exec.Command("/bin/bash", j.Script)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), "SLURM_JOB_ID="+args[0], "SLURMD_NODENAME=fake1", "SLURM_JOB_NAME="+j.Name,
		"SLURM_ARRAY_JOB_ID="+strconv.Itoa(j.Array), "SLURM_ARRAY_TASK_ID="+strconv.Itoa(j.Task))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	if err == nil {
		j.State, j.Node, j.PID = "RUNNING", "fake1", cmd.Process.Pid
		j.Save()
		err = cmd.Wait()
	}
	j.State = "COMPLETED"
	if err != nil {
		j.State = "FAILED"
	}
	if words, err := os.ReadFile(j.path() + ".end"); err == nil {
		j.State = string(words)
	}
	j.Save()
	return 0
}

func squeue(args []string) int {
	names := strings.Split(option(args, "name"), ",")
	jobs := Jobs()
	if fails("squeue") { // since it was begun
		return 1
	}
	noteAsked("squeue")
	if option(args, "sort") != "i" { // by state, as Slurm does
		slices.SortStableFunc(jobs, func(a, b *Job) int { return cmp.Compare(rank(a.State), rank(b.State)) })
	}
	for _, j := range jobs {
		if slices.Contains(names, j.Name) && j.State != "FORGOTTEN" {
			fmt.Printf("%s|%s|%s|%s\n", j.Shown(), j.State, j.Node, j.Name)
		}
	}
	return 0
}

// rank is where jobs of a state stand among those of others.
func rank(state string) int {
	return slices.Index([]string{"PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED"}, state)
}

func scancel(args []string) int {
	last := args[len(args)-1]
	for _, j := range Jobs() {
		if only := option(args, "state"); option(args, "name") != j.Name || only != "" && only != j.State || last[0] != '-' && last != j.Shown() {
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
			j.Save()
		}
	}
	return 0
}

// Launcher returns one whose jobs run this test binary.
func Launcher(t *testing.T) *slurm.Launcher {
	return &slurm.Launcher{
		Settings: slurm.Settings{Poll: 500 * time.Millisecond, Retries: 2},
		Exec:     Exec,
		Log:      func(message string, err error) { t.Log(message, err) },
	}
}

// Piloted returns one whose attempts are run by pilots.
func Piloted(t *testing.T) *slurm.Launcher {
	l := Launcher(t)
	l.Settings.Pilot, l.Workers, l.Pool = true, 2, filepath.Join(tempdir.New(t), "pilots")
	t.Cleanup(func() { Leave(t, l) })
	return l
}

// Crew lists the names of the arrays in which pilots of a launcher may live.
func Crew(l *slurm.Launcher) []string {
	var crew struct{ Names []string }
	if text, err := os.ReadFile(filepath.Join(l.Pool, "crew.json")); err != nil || json.Unmarshal(text, &crew) != nil {
		return nil
	}
	return crew.Names
}

// Leave lets the pilots of a launcher end.
func Leave(t *testing.T, l *slurm.Launcher) {
	if err := l.Release(context.Background()); err != nil {
		t.Error(err)
	}
	names := Crew(l)
	if len(names) == 0 {
		return
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		out, err := exec.Command("squeue", "--noheader", "--states=all", "--format=%T", "--name="+strings.Join(names, ",")).Output()
		if err == nil && !strings.Contains(string(out), "RUNNING") && !strings.Contains(string(out), "PENDING") && !strings.Contains(string(out), "COMPLETING") {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("pilots do not end: %q, %v", out, err)
			return
		}
	}
}
