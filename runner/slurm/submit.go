package slurm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/kinds"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/runner"
)

// script is what a job of the folder runs. The program must be visible on the nodes.
func (l *Launcher) script(f folder) string {
	setup := ""
	if len(l.Settings.Setup) > 0 {
		setup = "set -e\n" + strings.Join(l.Settings.Setup, "\n") + "\nset +e\n"
	}
	return "#!/bin/bash\n" + setup + execLine(append(slices.Clone(l.Exec), string(f)))
}

// execLine is a shell's line that runs a command in its own place.
func execLine(words []string) string {
	return "exec " + strings.Join(lists.Map(words, shell.Word), " ") + "\n"
}

// args returns the arguments of sbatch for the intent, without the script.
func (l *Launcher) args(f folder, in *intent) []string {
	s := l.Settings
	if s.Time == 0 && in.Job.Timeout > 0 {
		s.Time = in.Job.Timeout + in.Job.Grace + 5*time.Minute
	}
	args := []string{"--parsable", "--no-requeue", "--job-name=" + in.Name, "--chdir=" + string(in.Job.Cwd),
		"--output=" + escape(f.path(outputName)), "--open-mode=append"}
	return append(args, s.args()...)
}

// escape protects a path from Slurm's patterns for the names of outputs.
func escape(path string) string { return strings.ReplaceAll(path, "%", "%%") }

// sbatch submits a script, if possible to other nodes than those to avoid, and returns the job's id.
func sbatch(ctx context.Context, args, avoid []string, script string) (id string, err error) {
	with := slices.Clone(args)
	if len(avoid) > 0 { // of two such options Slurm heeds the last
		with = append(with, "--exclude="+strings.Join(append(excluded(args), avoid...), ","))
	}
	out, err := run(ctx, "sbatch", append(with, script)...)
	if err != nil && len(avoid) > 0 && !passes(err) {
		out, err = run(ctx, "sbatch", append(args, script)...)
	}
	id, _, _ = strings.Cut(strings.TrimSpace(out), ";") // then comes the cluster's name
	return id, err
}

// excluded is what arguments of sbatch exclude, as they say it last.
func excluded(args []string) (nodes []string) {
	for i, arg := range args {
		if list, ok := strings.CutPrefix(arg, "--exclude="); ok {
			nodes = []string{list}
		} else if list, ok := strings.CutPrefix(arg, "-x"); ok && list != "" {
			nodes = []string{list}
		} else if i > 0 && (args[i-1] == "-x" || args[i-1] == "--exclude") {
			nodes = []string{arg}
		}
	}
	return nodes
}

// avoid lists the nodes that have lost an attempt of this trial.
func (f folder) avoid() []string {
	var nodes []string
	for _, loss := range f.losses() {
		if loss.Node != "" && !slices.Contains(nodes, loss.Node) {
			nodes = append(nodes, loss.Node)
		}
	}
	return nodes
}

// Preview returns what sbatch would be given for a job, or for pilots. An error beside it
// says why Slurm would not take that.
func (l program) Preview(ctx context.Context, job runner.Job) (string, error) {
	f := folderOf(job.Dir)
	in := intent{Name: "lbotune-" + oddRE().ReplaceAllString(job.ID, "-"), Job: orderOf(job)}
	var text strings.Builder
	args := l.args(f, &in)
	if l.Settings.Pilot {
		f = folder(l.Pool)
		c := crew{Seats: l.Settings.PerJob}
		args = l.pilotArgs(f, in.Name, min(c.pilots(l.Workers), maxArray))
	}
	fmt.Fprintf(&text, "  sbatch %s %s\n", strings.Join(args, " "), f.path(scriptName))
	for line := range strings.Lines(l.script(f)) {
		text.WriteString("  " + line)
	}
	_, err := run(ctx, "sbatch", append(l.Settings.args(), "--test-only", "--job-name="+in.Name, "--wrap=true")...)
	switch {
	case errors.Is(err, exec.ErrNotFound), passes(err):
		fmt.Fprintf(&text, "  # whether Slurm takes it is not known: %v\n", err)
	case err != nil:
		return text.String(), refused{err}
	}
	return text.String(), nil
}

// refused says that Slurm does not take a job.
type refused struct{ err error }

func (r refused) Error() string { return "sbatch does not take such a job: " + r.err.Error() }
func (r refused) Unwrap() error { return r.err }
func (r refused) Hint() string  { return "sinfo shows the partitions and what their nodes have" }

// relay keeps a command going as one small job after the other, each of which submits the
// next before it begins to work. They share a name, of which Slurm lets one run at a time
// (--dependency=singleton): the next one begins when the one before has ended, however that
// was, at its time limit or with its node. Partition, account and quality of service are
// those of the trials; script and output are kept in the study's directory.
type relay struct {
	*Launcher
	command []string
}

// Detach implements kinds.Detacher.
func (l program) Detach(command []string) kinds.Relay { return relay{l.Launcher, command} }

// Names of a relay's files.
const (
	relayScript = "detached.sh"
	relayOutput = "detached.log"
)

// Output is the file to which the jobs' output is appended.
func (r relay) Output() string { return filepath.Join(r.Dir, relayOutput) }

// name is the same by whatever path the study is named.
func (r relay) name() string {
	dir, err := filepath.EvalSymlinks(r.Dir)
	if err != nil {
		dir = r.Dir
	}
	return fmt.Sprintf("lbotune-study-%x", sha256.Sum256([]byte(dir)))[:len("lbotune-study-")+12]
}

// Start submits the first job.
func (r relay) Start(ctx context.Context) (id string, err error) {
	if err := folder(r.Dir).write(relayScript, []byte("#!/bin/bash\n"+execLine(r.command))); err != nil {
		return "", err
	}
	return r.submit(ctx)
}

// Next submits the job that follows the one that calls it. It begins a minute from now at
// the earliest, so that jobs that die at once follow each other slowly.
func (r relay) Next(ctx context.Context) error {
	_, err := r.submit(ctx, "--begin=now+60")
	return err
}

func (r relay) submit(ctx context.Context, more ...string) (string, error) {
	s := r.Settings
	args := []string{"--parsable", "--no-requeue", "--job-name=" + r.name(), "--dependency=singleton",
		"--output=" + escape(r.Output()), "--open-mode=append", "--chdir=" + r.Cwd, "--cpus-per-task=1"}
	args = append(args, Settings{Partition: s.Partition, Account: s.Account, QOS: s.QOS}.args()...)
	args = append(append(args, more...), s.Detached...)
	id, err := sbatch(ctx, args, nil, filepath.Join(r.Dir, relayScript))
	if err != nil {
		return "", fmt.Errorf("submit the study's own job: %w", err)
	}
	return id, nil
}

// Jobs counts the relay's jobs that wait and those that run.
func (r relay) Jobs(ctx context.Context) (waiting, running int, err error) {
	jobs, err := list(ctx, []string{r.name()})
	for _, j := range jobs[r.name()] {
		switch {
		case j.state == "PENDING":
			waiting++
		case !j.over():
			running++
		}
	}
	return waiting, running, err
}

// End removes the jobs that wait.
func (r relay) End(ctx context.Context) error {
	return scancel(ctx, "--state=PENDING", "--name="+r.name())
}

// Left implements kinds.Canceller. The jobs of a copied study are the original's.
func (l program) Left(dir string) bool {
	f, in := folderOf(dir), new(intent)
	if _, err := f.readJSON(intentName, in); err == nil && in.Inode != f.inode() {
		return false
	}
	return f.has(intentName) && !f.has(endingName) && f.stopped() == ""
}

// Cancel implements kinds.Canceller.
func (l program) Cancel(ctx context.Context, dir string) (bool, error) {
	f, in := folderOf(dir), new(intent)
	if _, err := f.readJSON(intentName, in); err != nil || !l.Left(dir) {
		return false, err
	}
	if err := f.write(stopName, []byte(stopCancel)); err != nil {
		return false, err
	}
	err := scancel(ctx, "--state=PENDING", "--name="+in.Name)
	if err == nil {
		err = signalJobs(ctx, in.Name)
	}
	return true, err
}
