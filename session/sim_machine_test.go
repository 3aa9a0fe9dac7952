package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lbotune/lbotune/runner"
)

// machine is what attempts run on in a simulation: it goes on when lbotune dies, until
// its power is cut.
type machine struct {
	plan *simPlan

	mu     sync.Mutex
	life   int // counts the processes of lbotune
	runs   map[string]*simRun
	full   bool     // the disk has no room for what attempts write
	faults []string // what must not happen, and has
}

// simRun is one attempt on a machine.
type simRun struct {
	trial, attempt int
	key            string
	lines          []string // that it prints, one every pace
	pace           time.Duration
	code           int
	good           int                // the code of a run that went well
	value          float64            // of the last line; meaningful with a good code and lines
	final          map[string]float64 // all metrics, of a drawn plan
	result         string             // of a file that it writes in the end
	given          map[string]string  // of its command
	files          map[string]string  // that were made for it
	mute           bool               // its lines hold no value
	stderr         string
	slow           bool // to end when it is asked to

	began time.Time
	term  chan struct{} // closed to ask it to end
	asked func()
	why   func(*runner.Exit) // lbotune has asked it to end
	shut  bool               // the machine itself asks it to end
	over  chan struct{}      // closed at its end
	exit  runner.Exit
	lost  bool // the power was cut
}

// launcher is the machine as one process of lbotune uses it.
type simLauncher struct {
	*machine
	life int
}

func (m *machine) fault(format string, args ...any) {
	m.faults = append(m.faults, fmt.Sprintf(format, args...))
}

// boot gives the machine a new process of lbotune.
func (m *machine) boot() *simLauncher {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.life++
	return &simLauncher{m, m.life}
}

// living counts the attempts that run, setups among them or not.
func (m *machine) living(setups bool) int {
	n := 0
	for _, r := range m.runs {
		if !isOver(r) && (setups || r.trial > 0) {
			n++
		}
	}
	return n
}

func isOver(r *simRun) bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// powerCut ends everything.
func (m *machine) powerCut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.life++
	for _, r := range m.runs {
		if !isOver(r) {
			r.lost = true
			close(r.over)
		}
	}
}

// Launch implements runner.Launcher.
func (l *simLauncher) Launch(ctx context.Context, job runner.Job) (runner.Exit, error) {
	l.mu.Lock()
	if l.life != l.machine.life {
		l.mu.Unlock()
		return runner.Exit{}, errors.New("lbotune is dead")
	}
	if ctx.Err() != nil {
		l.mu.Unlock()
		return runner.Exit{}, context.Cause(ctx)
	}
	r := l.plan.behavior(job)
	for _, other := range l.runs {
		if other.trial == r.trial && !isOver(other) {
			l.fault("attempt %d.%d is launched while %d.%d lives", r.trial, r.attempt, other.trial, other.attempt)
		}
	}
	if n := l.living(true); n >= l.plan.most() {
		l.fault("attempt %d.%d is launched beside %d others", r.trial, r.attempt, n)
	}
	for _, other := range l.runs {
		if slot := r.given["slot"]; slot != "" && slot == other.given["slot"] && !isOver(other) {
			l.fault("attempt %d.%d is launched in slot %s, in which %d.%d lives", r.trial, r.attempt, slot, other.trial, other.attempt)
		}
	}
	if err := claim(job); err != nil {
		l.mu.Unlock()
		return runner.Exit{}, err
	}
	r.key, r.began = job.Key, time.Now()
	r.term, r.over = make(chan struct{}), make(chan struct{})
	r.asked = sync.OnceFunc(func() { close(r.term) })
	l.runs[job.Dir] = r
	l.mu.Unlock()
	go l.live(r, job)
	if job.Started != nil {
		job.Started(1)
	}
	return l.await(ctx, job, r)
}

// Attach implements runner.Attacher.
func (l *simLauncher) Attach(ctx context.Context, job runner.Job) (runner.Exit, error) {
	l.mu.Lock()
	r := l.runs[job.Dir]
	l.mu.Unlock()
	switch {
	case r == nil:
		return runner.Exit{}, runner.ErrNeverStarted
	case r.lost:
		return runner.Exit{}, runner.ErrLost
	case r.key != job.Key:
		r.asked()
		<-r.over
		return runner.Exit{}, runner.ErrOutdated
	case !isOver(r) && job.Started != nil:
		job.Started(1)
	}
	return l.await(ctx, job, r)
}

// await waits for the end of an attempt, and asks it to end if it must.
func (l *simLauncher) await(ctx context.Context, job runner.Job, r *simRun) (runner.Exit, error) {
	var timeout <-chan time.Time
	if job.Timeout > 0 {
		timer := time.NewTimer(time.Until(r.began.Add(job.Timeout)))
		defer timer.Stop()
		timeout = timer.C
	}
	why := func(e *runner.Exit) { e.Cancelled = true }
	select {
	case <-r.over:
		return l.ended(r)
	case <-timeout:
		why = func(e *runner.Exit) { e.TimedOut = true }
	case <-ctx.Done():
	case <-job.Kill:
	}
	l.mu.Lock()
	if r.why == nil {
		r.why = why // written down before it is asked, for whoever comes next
	}
	l.mu.Unlock()
	r.asked()
	select {
	case <-r.over:
	case <-job.Kill:
		l.end(r, 137)
	case <-time.After(job.Grace):
		l.end(r, 137)
	}
	return l.ended(r)
}

func (l *simLauncher) ended(r *simRun) (runner.Exit, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.lost {
		return runner.Exit{}, runner.ErrLost
	}
	return r.exit, nil
}

// end ends an attempt with a code, if it has not ended before.
func (m *machine) end(r *simRun, code int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !isOver(r) {
		r.exit = runner.Exit{Code: code, Started: r.began, Ended: time.Now(), DiskFull: m.full}
		if r.shut && code == 143 {
			r.exit.Signal = "SIGTERM"
		}
		if r.why != nil && code > 128 {
			r.why(&r.exit)
		}
		close(r.over)
	}
}

// shutdown asks all attempts to end, as one who stops the machine does. The slow ones do not
// listen.
func (m *machine) shutdown() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if !isOver(r) && !r.slow {
			r.shut = true
			r.asked()
		}
	}
}

// fill takes the room on the disk, or gives it back.
func (m *machine) fill(full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = full
}

// room is how much of a text the disk has room for.
func (m *machine) room(text string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return text[:len(text)-2]
	}
	return text
}

// live is the life of an attempt.
func (m *machine) live(r *simRun, job runner.Job) {
	out, err := os.OpenFile(filepath.Join(job.Dir, runner.StdoutName), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		m.end(r, 70)
		return
	}
	defer out.Close()
	for i := 0; i <= len(r.lines); i++ {
		select {
		case <-time.After(r.pace):
		case <-r.over:
			return
		case <-r.term:
			if r.slow {
				<-r.over // by SIGKILL
				return
			}
			m.end(r, 143)
			return
		}
		if i == len(r.lines) {
			break
		}
		line := r.lines[i] + "\n"
		written := m.room(line)
		if _, err := out.WriteString(written); err != nil {
			m.end(r, 70)
			return
		}
		if written != line { // and it does not look
			m.end(r, r.code)
			return
		}
	}
	if r.stderr != "" {
		_ = os.WriteFile(filepath.Join(job.Dir, runner.StderrName), []byte(r.stderr), 0o600)
	}
	if r.result != "" {
		_ = os.WriteFile(filepath.Join(job.Dir, "result.txt"), []byte(m.room(r.result)), 0o600)
	}
	m.end(r, r.code)
}

// behavior is what an attempt will do: it depends on what the program is given alone,
// unless the plan says that it has moods.
func (p *simPlan) behavior(job runner.Job) *simRun {
	id := strings.Split(job.ID, "/")
	r := &simRun{pace: time.Second}
	r.trial, _ = strconv.Atoi(id[1])
	r.attempt, _ = strconv.Atoi(id[2])
	if r.trial == 0 {
		return r
	}
	given := strings.Join(slices.DeleteFunc(slices.Clone(job.Argv), func(w string) bool { return strings.HasPrefix(w, "slot=") }), " ")
	for _, e := range job.Env {
		if strings.HasPrefix(e, "LBOTUNE_SEED=") {
			given += e
		}
	}
	if p.moody {
		given += id[2]
	}
	h := hashOf(p.seed, given)
	rng := rand.New(rand.NewPCG(h, 1))
	r.pace = time.Duration(rng.Int64N(int64(time.Second)) + int64(time.Millisecond))
	r.slow = rng.IntN(4) == 0
	if p.sheet != nil {
		p.perform(r, rng, job)
		r.files = map[string]string{}
		for _, f := range job.Files {
			r.files[f.Name] = string(f.Content)
		}
	} else {
		for i := range max(p.prints, 1) {
			r.value = float64(rng.IntN(1000))/1000 + float64(max(p.prints, 1)-i)
			r.lines = append(r.lines, fmt.Sprintf("loss=%v", r.value))
		}
	}
	switch f := rng.IntN(100); {
	case f < p.bad: // fails
		r.code = 1 + rng.IntN(3)
		if r.code == r.good {
			r.code = 4
		}
		if p.sheet != nil && p.sheet.prog.secret {
			r.stderr = "no access with " + simSecret + "\n"
		}
	case f < 2*p.bad: // prints nothing
		r.lines, r.result = nil, ""
		if p.sheet != nil && p.sheet.prog.secret {
			r.lines, r.mute = []string{"loss=" + simSecret}, true
		}
	case f < 3*p.bad && p.timeout: // hangs
		r.pace = time.Hour
	}
	return r
}
