package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// attempt is one attempt under the eyes of this process.
type attempt struct {
	job      Job
	nonce    string
	dir      int   // descriptors: the directory
	record   int   // and attempt.jsonl for appending
	headed   int64 // where its header ends, if this process has written it
	out, err boundedLog

	child                  // the supervisor, perhaps not ours
	ended    chan struct{} // closed when the supervisor, our child, has ended; nil if it is no child
	cgroup   cgroup        // that everything of it was born in, if any
	started  time.Time
	uptime   time.Duration // the machine's, at the start
	reason   stopReason    // why it is asked to end
	counted  *Lengths      // how much of the outputs counts, if not all does
	killed   bool          // SIGKILL was needed
	immortal []Process     // and did not help
}

// stopReason says why an attempt is asked to end; it is part of the record's format.
type stopReason string

const (
	stopTimeout stopReason = "timeout"
	stopCancel  stopReason = "cancel"
	stopKill    stopReason = "kill" // cancelled, without grace
	stopFlood   stopReason = "flood"
)

// prepare claims the attempt's directory and fills it.
func prepare(job Job) (*attempt, error) {
	err := Claim(job.Dir)
	if errors.Is(err, ErrClaimed) {
		return nil, err
	}
	a := newAttempt(job, -1)
	a.nonce = rand.Text() // which no other attempt has
	if err == nil {
		if a.dir, err = openDir(job.Dir); err != nil {
			_ = door.Rmdir(job.Dir)
		}
	}
	if err != nil {
		return nil, diskError("create the attempt's directory", err)
	}
	a.record, err = createAt(a.dir, recordName)
	if err == nil {
		a.out.fd, err = createAt(a.dir, StdoutName)
	}
	if err == nil {
		a.err.fd, err = createAt(a.dir, StderrName)
	}
	if err == nil {
		err = writeFiles(a.job.Dir, a.job.Files)
	}
	if err != nil {
		a.discard()
		return nil, diskError("fill the attempt's directory", err)
	}
	return a, nil
}

// newAttempt is one in the directory of a descriptor, of which nothing else is open.
func newAttempt(job Job, dir int) *attempt {
	return &attempt{job: job, dir: dir, record: -1, out: newBoundedLog(&job), err: newBoundedLog(&job)}
}

func (a *attempt) close() {
	a.release()
	for _, fd := range []*int{&a.dir, &a.record, &a.out.fd, &a.err.fd} {
		if *fd >= 0 {
			unix.Close(*fd)
		}
		*fd = -1
	}
}

// discard removes an attempt of which nothing was started, and with it the claim.
func (a *attempt) discard() {
	a.close() // which frees the descriptors that it takes
	_ = door.RemoveAll(a.job.Dir)
}

// refuse ends an attempt whose command cannot be executed, as a shell would say it, or returns err.
func (a *attempt) refuse(err error) (Exit, error) {
	code, why := 126, "the command and its environment are longer than the system allows"
	switch {
	case errors.Is(err, errNotFound):
		code, why = 127, a.job.Argv[0]+": not found"
	case !errors.Is(err, unix.E2BIG):
		return Exit{}, err
	}
	_, _ = unix.Write(a.err.fd, []byte(supervisorName+": "+why+"\n"))
	_ = a.head()
	_ = appendEntry(a.record, entry{Exit: &code})
	return a.exit(code, usage{}, time.Now()), nil
}

func (a *attempt) announce() {
	if tell := a.job.Started; tell != nil {
		a.job.Started = nil // it is told once
		tell(a.pid)
	}
}

// exit is how an attempt ended of which nothing lives.
func (a *attempt) exit(code int, used usage, ended time.Time) Exit {
	_, _ = a.trimLogs()
	return Exit{
		Code:    code,
		Signal:  unix.SignalName(unix.Signal(code - 128)), // "" if it is none
		Started: a.started, Ended: ended,
		CPU: time.Duration(used.CPU) * time.Microsecond, PeakMemory: used.Peak,
		TimedOut:  a.reason == stopTimeout,
		Cancelled: a.reason == stopCancel || a.reason == stopKill,
		Flooded:   a.reason == stopFlood,
		Killed:    a.killed,
		Truncated: a.out.truncated || a.err.truncated,
		Counted:   a.counted,
	}
}

// Pace of the looks at a running attempt's logs, and at its record where we are not its parent.
const (
	lookMin = 10 * time.Millisecond
	lookMax = 100 * time.Millisecond
)

// watch returns when the supervisor has ended by itself or nothing of the attempt is left.
func (l *Local) watch(ctx context.Context, a *attempt) {
	a.announce()
	if reason := l.wait(ctx, a); reason != "" && !a.over() {
		l.stop(a, reason)
	}
}

// wait waits for the supervisor's end or a reason to end it.
func (l *Local) wait(ctx context.Context, a *attempt) stopReason {
	var timeout <-chan time.Time
	if a.job.Timeout > 0 {
		timeout = time.After(a.job.Timeout - a.age())
	}
	for pause := lookMin; ; {
		select {
		case <-a.ended:
			return ""
		case <-a.job.Kill:
			return stopKill
		case <-ctx.Done():
			return stopCancel
		case <-timeout:
			return stopTimeout
		case <-time.After(pause):
		}
		if a.ended == nil && a.over() {
			return ""
		}
		grew, err := a.trimLogs()
		if err != nil {
			return stopFlood
		}
		l.bury()
		if pause = min(2*pause, lookMax); grew {
			pause = lookMin
		}
	}
}

// bury reaps the dead orphans, now and then for all that run: the more run, the longer takes a look.
func (l *Local) bury() {
	l.mu.Lock()
	due := time.Since(l.buried) > lookMax/2
	if due {
		l.buried = time.Now()
	}
	l.mu.Unlock()
	if due {
		l.orphans()
	}
}

// age is the time since the start, also if an earlier orchestrator made it.
func (a *attempt) age() time.Duration {
	if a.uptime > 0 {
		return uptime() - a.uptime
	}
	return time.Since(a.started)
}

func (a *attempt) trimLogs() (grew bool, err error) {
	g1, err1 := a.out.trim()
	g2, err2 := a.err.trim()
	return g1 || g2, errors.Join(err1, err2)
}

// explain turns an error of fork and exec into a SpawnError.
func (a *attempt) explain(shell string, err error) error {
	switch {
	case errors.Is(err, unix.E2BIG):
		return err
	case errors.Is(err, unix.EBADF): // the child needs numbers of descriptors beyond the limit
		err = unix.EMFILE
	}
	if a.job.Cwd != "" {
		st, e := os.Stat(a.job.Cwd)
		if e == nil && !st.IsDir() {
			e = unix.ENOTDIR
		}
		if e != nil {
			return spawnError("use working directory "+a.job.Cwd, e)
		}
	}
	return spawnError("start "+shell, err)
}

// busy returns a temporary SpawnError if a shell could not execute the program for
// want of something that will pass. It said so on stderr, in the C library's words.
func (a *attempt) busy(code int) error {
	if code != 126 || len(a.job.Argv) == 0 {
		return nil
	}
	buf := make([]byte, 4<<10)
	n, _ := unix.Pread(a.err.fd, buf, 0)
	text := strings.TrimSpace(string(buf[:max(n, 0)]))
	for _, errno := range []unix.Errno{unix.ETXTBSY, unix.ENOMEM, unix.ENFILE, unix.EAGAIN} {
		if strings.HasPrefix(text, supervisorName+": ") && strings.HasSuffix(strings.ToLower(text), errno.Error()) {
			return &SpawnError{Op: fmt.Sprintf("execute %s", a.job.Argv[0]), Err: errno, Temporary: true}
		}
	}
	return nil
}

func diskError(op string, err error) *SpawnError {
	s := spawnError(op, err)
	s.Disk = !s.Temporary
	return s
}

func spawnError(op string, err error) *SpawnError {
	s := &SpawnError{Op: op, Err: err}
	for _, errno := range []unix.Errno{unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ETXTBSY, unix.EINTR} {
		s.Temporary = s.Temporary || errors.Is(err, errno)
	}
	return s
}
