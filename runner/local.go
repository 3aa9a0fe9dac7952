package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Local runs attempts as processes of this machine. It implements Launcher and Attacher;
// its zero value is ready for use. See the package comment for how.
type Local struct {
	// Adopt makes this process the new parent of every process below it whose own parent
	// dies (on Linux; PR_SET_CHILD_SUBREAPER). What an attempt leaves behind is then found
	// without a look at every process of the machine, even if it has left its session,
	// its environment and its descriptors behind.
	//
	// It is for the program that owns the process: only one Local of a process may set it,
	// and whatever else the program starts must stay in the program's own session.
	Adopt bool
	// Shell is a POSIX shell to supervise attempts and to run Job.Shell; empty means /bin/sh.
	Shell string

	starting sync.RWMutex // shared by those that start, as long as nothing is short

	mu   sync.Mutex
	live map[int]*attempt // by process id of the supervisor, from fork to reaping

	buried time.Time // when orphans were last reaped beside what runs

	adopted  sync.Once
	adopting bool
	grouped  sync.Once
	groups   string // the control group to make others in, if any
}

// How long Launch tries to start an attempt while the system is short of something, with what pauses.
const (
	spawnPatience = 30 * time.Second
	spawnPauseMin = 10 * time.Millisecond
	spawnPauseMax = time.Second / 2
)

// Launch implements Launcher.
func (l *Local) Launch(ctx context.Context, job Job) (Exit, error) {
	if err := job.Validate(); err != nil {
		return Exit{}, fmt.Errorf("attempt %s: %w", job.ID, err)
	}
	l.adopt()
	reserveThreads()
	var a *attempt
	var exit Exit
	short := false
	err := insist(ctx, job.Kill, func() (err error) {
		a, err = l.start(job, a, short)
		switch {
		case err == nil:
			exit, err = l.run(ctx, a)
		case a != nil:
			exit, err = a.refuse(err)
		}
		short = err != nil
		return err
	})
	if a != nil {
		defer a.close()
	}
	if err != nil {
		if a != nil && !errors.Is(err, ErrLost) {
			a.discard()
		}
		return Exit{}, fmt.Errorf("attempt %s: %w", job.ID, err)
	}
	return exit, nil
}

// start prepares an attempt, unless that is done, and starts its supervisor. While the system is short
// of something one attempt is started at a time, and what could not be started holds nothing: else many
// that each have some of the descriptors that they need would wait for each other.
func (l *Local) start(job Job, a *attempt, short bool) (*attempt, error) {
	starting := l.starting.RLocker()
	if short {
		starting = &l.starting
	}
	starting.Lock()
	defer starting.Unlock()
	if a == nil {
		var err error
		if a, err = prepare(job); err != nil {
			return nil, err
		}
	}
	err := l.spawn(a)
	var spawn *SpawnError
	if errors.As(err, &spawn) && a.pid == 0 {
		a.discard()
		return nil, err
	}
	return a, err
}

// insist calls start until it returns anything but a temporary SpawnError.
func insist(ctx context.Context, kill <-chan struct{}, start func() error) error {
	begun := time.Now()
	for pause := spawnPauseMin; ; pause = min(2*pause, spawnPauseMax) {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isClosed(kill):
			return context.Canceled
		}
		err := start()
		if !IsShortage(err) || time.Since(begun) > spawnPatience {
			return err
		}
		select { // whatever it is, the next turn says so
		case <-ctx.Done():
		case <-kill:
		case <-time.After(pause):
		}
	}
}

func (l *Local) run(ctx context.Context, a *attempt) (Exit, error) {
	l.watch(ctx, a)
	seen := time.Now()
	left := l.sweep(a, seen)
	code, rec, err := l.reap(a)
	if err != nil {
		return Exit{}, err
	}
	exit := a.exit(code, rec.usage, a.endedAt(rec.Up, seen))
	exit.Emptied = a.emptied(rec)
	if rec.usage != (usage{}) {
		_ = appendEntry(a.record, entry{usage: rec.usage, Ended: &exit.Ended})
	}
	exit.Leftovers = left
	exit.DiskFull = a.noteFullDisk(code) || rec.Full
	return exit, nil
}

// lateness is how much later than the supervisor, whose clock is coarser, we may see a command's end.
const lateness = 100 * time.Millisecond

// endedAt is when the command ended whose end we may have seen late, stopped by Ctrl-Z ourselves.
func (a *attempt) endedAt(up string, seen time.Time) time.Time {
	if ended, ok := a.endedBy(up); ok && seen.Sub(ended) >= lateness {
		return ended
	}
	return seen
}

// endedBy is when the command ended by the machine's uptime, as the supervisor wrote it down.
func (a *attempt) endedBy(up string) (ended time.Time, known bool) {
	s, err := strconv.ParseFloat(up, 64)
	ended = a.started.Add(time.Duration(s*float64(time.Second)) - a.uptime)
	return ended, err == nil && a.uptime != 0 && !ended.Before(a.started)
}

func (l *Local) spawn(a *attempt) error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return spawnError("open "+os.DevNull, err)
	}
	defer unix.Close(null)
	lock, err := a.openLock()
	if err != nil {
		return spawnError("open "+recordName, err)
	}
	defer unix.Close(lock)
	if a.pid != 0 { // a second start: the first one could only say that it failed
		_ = unix.Ftruncate(a.err.fd, 0)
		_, _ = unix.Seek(a.err.fd, 0, unix.SEEK_SET) // else it seems to be emptied
	}
	sys, pidfd := sysProcAttr()
	leave := l.enclose(a, sys)
	defer leave()
	shell := cmp.Or(l.Shell, defaultShell)
	argv, env, self, err := a.job.command(shell, a.marker(), a.cgroup)
	if err != nil {
		return err
	}
	defer unix.Close(self)
	if err := a.head(); err != nil {
		return diskError("write "+recordName, err)
	}
	const closed = ^uintptr(0)
	files := []uintptr{0: uintptr(null), 1: uintptr(a.out.fd), 2: uintptr(null),
		recordFD: uintptr(a.record), stderrFD: uintptr(a.err.fd),
		selfFD: uintptr(self), 6: closed, 7: closed, 8: closed, lockFD: uintptr(lock)}
	for _, f := range a.job.Hold {
		files = append(files, f.Fd())
	}
	attr := &syscall.ProcAttr{Dir: a.job.Cwd, Env: env, Files: files, Sys: sys}

	l.mu.Lock() // no one may take the new child for an orphan
	pid, err := syscall.ForkExec(shell, argv, attr)
	if err != nil && a.cgroup != "" { // we may make groups, and perhaps not fill them
		leave()
		a.release()
		pid, err = syscall.ForkExec(shell, argv, attr)
	}
	if err != nil {
		l.mu.Unlock()
		return a.explain(shell, err)
	}
	if l.live == nil {
		l.live = make(map[int]*attempt)
	}
	l.live[pid] = a
	l.mu.Unlock()
	a.pid = pid
	a.ended = make(chan struct{})
	go func() {
		defer close(a.ended)
		a.await(pidfd)
	}()
	return nil
}

// reap takes the exit status of the supervisor, which has ended (or will never), and frees its number.
func (l *Local) reap(a *attempt) (code int, rec record, err error) {
	if len(a.immortal) > 0 && !a.dead() {
		rec.usage = a.cgroup.usage()
		return 128 + int(unix.SIGKILL), rec, nil // it hangs in the kernel, and so shall not we
	}
	<-a.ended
	l.mu.Lock()
	status, used, err := a.takeStatus()
	delete(l.live, a.pid)
	l.mu.Unlock()
	rec, _ = readRecord(a.record, a.headed) // unreadable is as good as empty
	rec.usage = a.usage(rec, used)
	switch {
	case rec.Exit != nil && err == nil && status.Exited() && *rec.Exit != status.ExitStatus():
		return status.ExitStatus(), rec, nil // a line that is not the supervisor's
	case rec.Exit != nil:
		return *rec.Exit, rec, a.busy(*rec.Exit)
	case rec.Fork != nil:
		return 0, rec, &SpawnError{Op: "fork the command", Err: unix.EAGAIN, Temporary: true}
	case err != nil:
		return 0, rec, fmt.Errorf("take the exit status of process %d: %w: %w", a.pid, err, ErrLost)
	case status.Exited(): // the record could not be written
		return status.ExitStatus(), rec, nil
	}
	// The supervisor was killed, by us or with its whole group.
	code = 128 + int(status.Signal())
	printed := a.lengths()
	_ = appendEntry(a.record, entry{Exit: &code, Up: upNow(), Killed: a.killed, Printed: &printed})
	return code, rec, nil
}

// spareThreads are enough for what a session waits for at once.
const spareThreads = 16

// reserveThreads makes the threads that this program will need: where attempts take every process that
// the system grants there would be none, and the runtime of Go ends a program that cannot have one.
var reserveThreads = sync.OnceFunc(func() {
	var held sync.WaitGroup
	release := make(chan struct{})
	for range spareThreads {
		held.Add(1)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			held.Done()
			<-release
		}()
	}
	held.Wait()
	close(release)
})
