package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// commandPatience is how long a command of Slurm may take. Its own network timeouts are
// shorter; this one is for a machine that hangs.
const commandPatience = 5 * time.Minute

// commandError says that a command of Slurm has failed, in its own words.
type commandError struct {
	name string
	text string
	err  error
}

func (e *commandError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("%s: %v", e.name, e.err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(e.text, e.name+": error: ", ""), "\n", "; ")
}

func (e *commandError) Unwrap() error { return e.err }

// run runs a command of Slurm and returns its standard output.
func run(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 10 * time.Second // on a machine that is busy even the rest of an answer takes a while
	cmd.Env = cleanEnv(os.Environ())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", &commandError{name, strings.TrimSpace(stderr.String()), err}
	}
	return stdout.String(), nil
}

// alreadyDone is how scancel exits, without a word, where a job has ended between its look at
// the queue and its request: the last eight bits of Slurm's error number 2021
// (ESLURM_ALREADY_DONE).
const alreadyDone = 2021 & 0xff

// scancel removes or signals jobs. One that has ended meanwhile needs neither.
func scancel(ctx context.Context, args ...string) error {
	_, err := run(ctx, "scancel", args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == alreadyDone {
		return nil
	}
	return err
}

// cleanEnv drops what would change the meaning of Slurm's commands, or reach our jobs as
// if it were theirs: lbotune may itself run in an allocation, and know devices of it.
// SLURM_CONF stays, since it says where the cluster is.
func cleanEnv(env []string) []string {
	devices := slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "SLURM_JOB_ID=") })
	var kept []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		prefix, _, _ := strings.Cut(name, "_")
		foreign := slices.Contains([]string{"SLURM", "SLURMD", "SBATCH", "SQUEUE", "SCANCEL", "SRUN", "SALLOC"}, prefix)
		switch name {
		case "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL":
			foreign = devices
		}
		if !foreign || name == "SLURM_CONF" {
			kept = append(kept, kv)
		}
	}
	return kept
}

// passing lists what Slurm says when trying again later may help.
var passing = []string{
	"unable to contact slurm controller", "socket timed out", "communication connection failure",
	"temporarily unable", "resource temporarily unavailable", "connection refused", "connection timed out",
	"zero bytes were transmitted", "slurm_persist_conn", "in standby mode", "unexpected message received",
	"job submit limit", "maxsubmitjob", "maximum job", "transport endpoint",
	"insane message length", "connection reset", "no route to host", "rate limit",
	"maxjobcount", "try again",
}

// passes reports whether an error of a command may pass by itself.
func passes(err error) bool {
	var e *commandError
	if !errors.As(err, &e) {
		return false
	}
	text := strings.ToLower(e.text)
	return slices.ContainsFunc(passing, func(p string) bool { return strings.Contains(text, p) }) ||
		e.text == "" && !errors.Is(e.err, exec.ErrNotFound) // killed, or ended without a word
}
