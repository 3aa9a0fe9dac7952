package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Launcher runs attempts. It is safe for concurrent use.
type Launcher interface {
	// Launch creates the directory of job, runs its command there and blocks until no
	// process of it is left. An Exit means that the command ran (or could not be executed
	// through a fault of its own, as a shell's codes 126 and 127 say); an error means that
	// it did not run and that the trial is not to blame: ErrClaimed, a *SpawnError, an
	// invalid job, or the cause of ctx when that ended before the start. What Launch had
	// created is then removed again.
	//
	// When ctx is done the attempt is asked to end: SIGTERM to every process, SIGKILL to
	// those that are left after Grace.
	Launch(ctx context.Context, job Job) (Exit, error)
}

// An Attacher rejoins an attempt that an earlier orchestrator launched.
type Attacher interface {
	// Attach returns the Exit of the attempt in job.Dir, however long ago it ended, and
	// waits for it while it lives, enforcing Timeout, Kill and ctx as Launch would have.
	// It starts nothing. Errors: ErrNeverStarted, ErrLost, ErrElsewhere, ErrCopied,
	// ErrOutdated, ErrNotBegun, and the cause of ctx for an attempt that had not begun.
	//
	// Of the job it needs Dir, ID, Key and the limits; command and files are not looked at.
	// The caller must know that no other orchestrator is launching into job.Dir.
	Attach(ctx context.Context, job Job) (Exit, error)
}

// Errors of Launch and Attach, to be tested with errors.Is.
var (
	// ErrClaimed: the attempt's directory exists, so some orchestrator has claimed it.
	ErrClaimed = errors.New("the attempt's directory exists already")
	// ErrNeverStarted: the directory is claimed, or absent, and no command was started.
	ErrNeverStarted = errors.New("the attempt was never started")
	// ErrNotBegun: what was to run the attempt has failed before it could. The trial does
	// not run, and to try again as it is would not help.
	ErrNotBegun = errors.New("the attempt did not begin")
	// ErrLost: the attempt ended without leaving its exit status. None of its processes
	// lives, so that it may run again.
	ErrLost = errors.New("the attempt died without leaving an exit status")
	// ErrElsewhere: the attempt was started on another host and has left no exit status
	// yet; whether it lives cannot be told from here.
	ErrElsewhere = errors.New("the attempt was started on another host")
	// ErrCopied: the directory is a copy of the attempt's, made before that had ended.
	// Whatever runs belongs to the original and was not touched, unless that is gone: then it was
	// ended. It is an ErrLost.
	ErrCopied error = lostError("the attempt's directory was copied before the attempt had ended")
	// ErrOutdated: the attempt has another Key, and was made to end. It is an ErrLost.
	ErrOutdated error = lostError("it was made with other values, another command or another metric")
)

// lostError is a kind of ErrLost.
type lostError string

func (e lostError) Error() string { return string(e) }

// Is implements the interface that errors.Is looks for.
func (e lostError) Is(target error) bool { return target == ErrLost }

// SpawnError reports that the system could not start an attempt. The trial is not to
// blame, and the attempt's directory has been removed again.
type SpawnError struct {
	Op        string // what was being done
	Err       error  // the system's answer
	Temporary bool   // a shortage that may pass; Launch has already retried for a while
	Disk      bool   // what failed was making the attempt's directory or its files
}

func (e *SpawnError) Error() string { return fmt.Sprintf("cannot %s: %v", e.Op, e.Err) }

// IsShortage reports whether err is a shortage of descriptors, processes or memory that may pass.
func IsShortage(err error) bool {
	var spawn *SpawnError
	return errors.As(err, &spawn) && spawn.Temporary
}

// Unwrap returns the system's answer, for instance syscall.ENOSPC.
func (e *SpawnError) Unwrap() error { return e.Err }

// A Job says what to run and within which bounds.
type Job struct {
	// Dir is the attempt's directory. Launch creates it (and missing parents); creating it
	// is the claim: if it exists the answer is ErrClaimed.
	Dir string
	// ID names the attempt, for instance "<study id>/17/1", in one word. It becomes a part
	// of the mark by which the attempt's processes are found again.
	ID string
	// Key stands for all that makes the attempt's result what it is: values, command, metric. A launcher
	// keeps it, and Attach answers ErrOutdated if it is another one now. Without one nothing is compared.
	Key string

	// Shell is a command line for /bin/sh -c. Exactly one of Shell and Argv is given.
	Shell string
	// Argv is a program, looked up in PATH, and its arguments, run without a shell in
	// between: each element arrives byte for byte.
	Argv []string
	// Env is added to the environment of this process; each element is "NAME=value".
	Env []string
	// Cwd is the working directory; empty means that of this process.
	Cwd string
	// Files are written into Dir before the start.
	Files []File
	// Hold are open files that every process of the attempt inherits, on Launch, as a lock that lasts as
	// long as something of it lives. It is for launchers of processes of this machine alone.
	Hold []*os.File

	// Timeout ends the attempt as ctx does, that long after its start. 0 means never.
	Timeout time.Duration
	// Grace is the time between SIGTERM and SIGKILL, for checkpoints to be saved. 0 means
	// that SIGKILL follows at once.
	Grace time.Duration
	// Kill, when closed, ends the attempt by SIGKILL at once, also within the grace.
	Kill <-chan struct{}
	// MaxLog bounds the disk space in bytes of stdout and of stderr, each. What a longer
	// output keeps is its beginning and its end. 0 means DefaultMaxLog.
	MaxLog int64
	// Long, if not nil, is called when an output has passed a quarter of MaxLog, once for
	// each: who wants all of it should follow it from now on. It must return soon.
	Long func()

	// Started, if not nil, is called once the command is running (or was found running by Attach), with
	// the process id of its supervisor: stdout and stderr can be followed from now on. It must return
	// soon. It is not called for a command that cannot be executed, nor for one that has ended.
	Started func(pid int)
	// Settled, if not nil, is called when the command has ended, but something that it has
	// left behind lives on and is about to be asked to end: what is printed from then on
	// does not count, and who follows an output should stop. It must return soon.
	Settled func()
}

// DefaultMaxLog is the bound on stdout and on stderr of an attempt that states none.
const DefaultMaxLog = 64 << 20

// A File is written into the attempt's directory before the start.
type File struct {
	Name    string // slash-separated and local: "params.json", "conf/model.yaml"
	Content []byte
}

// Names of the files in an attempt's directory that the launcher writes.
const (
	StdoutName = "stdout"        // what the command wrote to its standard output
	StderrName = "stderr"        // and to its standard error
	recordName = "attempt.jsonl" // who started it where, and how it ended
)

// Exit says how an attempt ended.
type Exit struct {
	// Code is the command's exit status; 128+n when signal n ended it, as shells say.
	Code int `json:"code"`
	// Signal names the signal of a Code above 128 ("SIGKILL"). A program that exits with
	// such a code itself cannot be told apart.
	Signal string `json:"signal,omitempty"`
	// Started and Ended bound the life of the command. Leftovers may have lived longer.
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// CPU is the processor time of all of its processes, PeakMemory the most memory in bytes that they
	// held at once, file cache included: from the attempt's control group, if it has one that counts
	// it, else from the kernel's account of processes, which knows those that were waited for by their
	// parents, and of the memory the largest; it is gone with the orchestrator. 0 is unknown.
	CPU        time.Duration `json:"cpu,omitempty"`
	PeakMemory int64         `json:"peak_memory,omitempty"`
	// TimedOut, Cancelled: the attempt was asked to end because of Timeout, or of ctx or
	// Kill. Its Code may still be 0 when it handled SIGTERM well.
	TimedOut  bool `json:"timed_out,omitempty"`
	Cancelled bool `json:"cancelled,omitempty"`
	// Flooded: the attempt was asked to end because its output passed MaxLog on a file
	// system that cannot release the middle of a file.
	Flooded bool `json:"flooded,omitempty"`
	// Killed: SIGKILL was needed.
	Killed bool `json:"killed,omitempty"`
	// DiskFull: when the command ended, the disk of its directory had no room left. What
	// it has written may be incomplete, and a failure not its own.
	DiskFull bool `json:"disk_full,omitempty"`
	// Truncated: an output passed MaxLog and has lost its middle.
	Truncated bool `json:"truncated,omitempty"`
	// Cause says in a sentence what the status alone does not: that a batch system ended
	// the attempt because it took more memory than it had asked for, for instance.
	Cause string `json:"cause,omitempty"`
	// Leftovers are processes that a command that ended by itself left behind, and that were ended too.
	Leftovers []Process `json:"leftovers,omitempty"`
	// Counted says how much of the outputs counts, if not all does: what leftovers print
	// after they were asked to end does not.
	Counted *Lengths `json:"counted,omitempty"`
	// Emptied says how far the outputs went, if one has become shorter: the command has opened it by its name.
	Emptied *Lengths `json:"emptied,omitempty"`
}

// Lengths are those of an attempt's outputs, in bytes.
type Lengths struct {
	Stdout int64 `json:"stdout"`
	Stderr int64 `json:"stderr"`
}

// A Process of an attempt, for people.
type Process struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`         // its command line, made safe to print
	Alive   bool   `json:"alive,omitempty"` // even SIGKILL did not end it in time
}

// Validate reports the first fault of a job that is to be launched.
func (j *Job) Validate() error {
	switch {
	case j.Dir == "":
		return errors.New("job has no directory")
	case j.ID == "" || strings.ContainsAny(j.ID, " \t\r\n\x00"):
		return fmt.Errorf("job id %q must be one word", j.ID)
	case (j.Shell == "") == (len(j.Argv) == 0):
		return errors.New("job needs a shell command line or a program, and not both")
	case len(j.Argv) > 0 && (j.Argv[0] == "" || j.Argv[0][0] == '-'):
		return fmt.Errorf("job has %q for a program", j.Argv[0])
	}
	for _, s := range append([]string{j.Shell, j.Cwd}, j.Argv...) {
		if strings.ContainsRune(s, 0) {
			return fmt.Errorf("%q contains a NUL byte, which no command can be given", s)
		}
	}
	for _, s := range j.Env {
		if name, _, ok := strings.Cut(s, "="); !ok || name == "" || strings.ContainsRune(s, 0) {
			return fmt.Errorf("%q is not an environment variable", s)
		}
	}
	for _, f := range j.Files {
		switch {
		case !filepath.IsLocal(f.Name) || f.Name == ".":
			return fmt.Errorf("file %q is not within the attempt's directory", f.Name)
		case f.Name == StdoutName || f.Name == StderrName || f.Name == recordName:
			return fmt.Errorf("file %q has a name that the launcher needs itself", f.Name)
		}
	}
	return nil
}
