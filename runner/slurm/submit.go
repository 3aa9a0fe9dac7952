package slurm

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/runner"
)

// script is what a job of the folder runs. The program must be visible on the nodes.
func (l *Launcher) script(f folder) string {
	var s strings.Builder
	s.WriteString("#!/bin/bash\n")
	if len(l.Settings.Setup) > 0 {
		s.WriteString("set -e\n")
		for _, line := range l.Settings.Setup {
			s.WriteString(line + "\n")
		}
		s.WriteString("set +e\n")
	}
	return s.String() + execLine(append(slices.Clone(l.Exec), string(f)))
}

// execLine is a shell's line that runs a command in its own place.
func execLine(words []string) string {
	line := "exec"
	for _, word := range words {
		line += " " + shell.Word(word)
	}
	return line + "\n"
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

// sbatch submits a script, to other nodes than those to avoid unless these are all that
// there are, and returns the id of its job. Its error passes if trying again may help.
func sbatch(ctx context.Context, args, avoid []string, script string) (id string, err error) {
	with := slices.Clone(args)
	if len(avoid) > 0 {
		with = append(with, "--exclude="+strings.Join(avoid, ","))
	}
	out, err := run(ctx, "sbatch", append(with, script)...)
	if err != nil && len(avoid) > 0 && !passes(err) {
		out, err = run(ctx, "sbatch", append(args, script)...)
	}
	id, _, _ = strings.Cut(strings.TrimSpace(out), ";") // then comes the cluster's name
	return id, err
}

// submit submits the job of an attempt and notes its id.
func (l *Launcher) submit(f folder, in *intent) error {
	id, err := sbatch(context.Background(), l.args(f, in), l.avoid(f), f.path(scriptName))
	if err != nil {
		return err
	}
	if err := f.addSubmission(id); err != nil {
		l.log("cannot note a job's id; it can be found by its name", err)
	}
	return nil
}

// avoid lists the nodes that have lost an attempt of this trial.
func (l *Launcher) avoid(f folder) []string {
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
func (l *Launcher) Preview(ctx context.Context, job runner.Job) (string, error) {
	f := folderOf(job.Dir)
	in := intent{Name: "lbotune-" + oddRE.ReplaceAllString(job.ID, "-"), Job: orderOf(job)}
	var text strings.Builder
	args := l.args(f, &in)
	if l.Settings.Pilot {
		f = folder(l.Pool)
		args = l.pilotArgs(f, in.Name, min((l.Workers+max(l.Settings.PerJob, 1)-1)/max(l.Settings.PerJob, 1), maxArray))
	}
	text.WriteString("  sbatch")
	for _, arg := range append(args, f.path(scriptName)) {
		text.WriteString(" " + arg)
	}
	text.WriteString("\n")
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
