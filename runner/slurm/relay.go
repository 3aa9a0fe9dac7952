package slurm

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"github.com/lbotune/lbotune/runner"
)

// relay keeps a command going as one small job after the other, each of which submits the
// next before it begins to work. They share a name, of which Slurm lets one run at a time
// (--dependency=singleton): the next one begins when the one before has ended, however that
// was, at its time limit or with its node. Partition, account and quality of service are
// those of the trials; script and output are kept in the study's directory.
type relay struct {
	*Launcher
	command []string
}

// Detach implements runner.Detacher.
func (l *Launcher) Detach(command []string) runner.Relay { return relay{l, command} }

// Names of a relay's files.
const (
	relayScript = "detached.sh"
	relayOutput = "detached.log"
)

// Output is the file to which the jobs' output is appended.
func (r relay) Output() string { return filepath.Join(r.Dir, relayOutput) }

func (r relay) name() string {
	return fmt.Sprintf("lbotune-study-%x", sha256.Sum256([]byte(r.Dir)))[:len("lbotune-study-")+12]
}

// Start submits the first job.
func (r relay) Start(ctx context.Context) (id string, err error) {
	f := folder(r.Dir)
	if err := f.write(relayScript, []byte("#!/bin/bash\n"+execLine(r.command))); err != nil {
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
		case j.over():
		case j.state == "PENDING":
			waiting++
		default:
			running++
		}
	}
	return waiting, running, err
}

// End removes the jobs that wait.
func (r relay) End(ctx context.Context) error {
	return scancel(ctx, "--state=PENDING", "--name="+r.name())
}

// Left implements runner.Canceller.
func (l *Launcher) Left(dir string) bool {
	f := folderOf(dir)
	return f.has(intentName) && !f.has(endingName) && f.stopped() == ""
}

// Cancel implements runner.Canceller.
func (l *Launcher) Cancel(ctx context.Context, dir string) (bool, error) {
	f, in := folderOf(dir), new(intent)
	if _, err := f.readJSON(intentName, in); err != nil || !l.Left(dir) {
		return false, err
	}
	err := f.write(stopName, []byte(stopCancel))
	if err != nil {
		return false, err
	}
	if err := scancel(ctx, "--state=PENDING", "--name="+in.Name); err != nil {
		return true, err
	}
	err = scancel(ctx, "--batch", "--signal=TERM", "--state=RUNNING", "--name="+in.Name)
	return true, err
}
