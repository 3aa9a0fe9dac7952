package session_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// simTrial is what a model of the study knows of a trial.
type simTrial struct {
	done     bool
	hand     bool
	attempt  int // the last that has ended
	values   []float64
	retries  int
	cut      *study.Cut
	confirms int
}

// simModel is what must hold of the records of a study, told as simply as possible.
type simModel struct {
	*simulation
	config study.Config
	trials []*simTrial
	closed *study.Closed
	opened bool          // a result for which it was closed may have been taken out
	late   bool          // something counts since that may have to be confirmed
	ran    time.Duration // until the configuration was changed last
	// counts says of each trial that has a value whether it counts: then no failure is taken back unasked.
	counts map[int]bool
	ends   map[string]string // results in the journal, by attempt
}

// check compares the journal with what has happened.
func (s *simulation) check() {
	if len(s.faults) > 0 {
		return
	}
	text := s.disk.Content(layout.Study(s.dir).Journal())
	if err := os.WriteFile(layout.Study(s.dir).Journal(), text, 0o600); err != nil {
		s.fault("%v", err)
		return
	}
	m := &simModel{simulation: s, ends: map[string]string{}, counts: map[int]bool{}}
	st, err := study.Load(s.dir, func(before *study.State, r study.Record) error {
		m.record(before, r.Event)
		m.certain(before, r.Event)
		m.inTime(before, r)
		return nil
	})
	if err != nil {
		s.fault("read the journal: %v", err)
		return
	}
	s.state = st
	s.keptReadings(st, "in the end")
	for attempt, result := range s.reported {
		if m.ends[attempt] != result {
			s.fault("%s was reported as %s, and the journal has %q", attempt, result, m.ends[attempt])
		}
	}
	for _, r := range s.machine.runs {
		if r.trial > len(m.trials) {
			s.fault("attempt %d.%d ran, and the trial was never proposed", r.trial, r.attempt)
		}
	}
	if m.closed == nil {
		s.fault("the study has not come to its end: %d trials, %d finished", len(st.Trials), len(st.Order))
	} else if m.closed.Why == study.EndTrials && (len(st.Order) < m.config.Budget.Trials || len(st.Order) > m.config.Budget.Trials && !s.plan.has("respec", "steer")) {
		s.fault("%d trials are finished; the budget is %d", len(st.Order), m.config.Budget.Trials)
	}
	if left := st.Unconfirmed(); m.closed != nil && len(left) > 0 && !allByHand(st) && !s.plan.has("exclude", "steer") && !slices.Contains([]study.Ending{study.EndUnsafe, study.Ending("time"), study.EndGuard}, m.closed.Why) {
		s.fault("the study has come to its end, and %d of the best are not confirmed: trial %d", len(left), left[0].Number)
	}
	if hard := m.config.Budget.TimeHard; hard > 0 && st.Elapsed > max(time.Duration(hard), m.ran)+time.Second {
		s.fault("the study has run for %v; its hard limit is %v", st.Elapsed, hard)
	}
	if !s.plan.has("power", "powerAtOp", "drivePower", "shutdown") && strings.Contains(string(text), `"kind":"lost"`) {
		s.fault("an attempt is called lost, and nothing was lost")
	}
	replayed, err := session.Replay(context.Background(), s.dir, s.plan.optimizer())
	if err != nil || len(replayed.Differences) > 0 {
		s.fault("replay: %+v, %v", replayed.Differences, err)
	}
	if s.plan.sheet != nil {
		s.promised(st, string(text))
	}
}

// allByHand reports whether lbotune has run no trial, so that it confirms none.
func allByHand(st *study.State) bool {
	return !slices.ContainsFunc(st.Trials, func(t *study.Trial) bool { return !t.Hand || len(t.Confirms) > 0 })
}

// inTime checks that no trial is proposed once the study's time is over.
func (m *simModel) inTime(before *study.State, r study.Record) {
	if _, asks := r.Event.(study.Proposed); asks && before.Config.Budget.Limit() > 0 && before.Elapsed >= before.Config.Budget.Limit() {
		m.fault("after %v another trial is proposed; the budget is %v", before.Elapsed, before.Config.Budget.Limit())
	} else if b := time.Duration(before.Config.Budget.WorkerTime); asks && b > 0 && before.Worked >= b {
		m.fault("after %v of all workers another trial is proposed; the budget is %v", before.Worked, b)
	}
	if _, changed := r.Event.(study.ConfigChanged); changed {
		m.ran = before.Elapsed
	}
}

// record checks an event against those before it, and against the machine.
func (m *simModel) record(before *study.State, e study.Event) {
	m.opened, m.late = m.opened || m.late && len(before.Unconfirmed()) > 0, false
	switch e.(type) {
	case study.Session, study.ConfigChanged, study.Noted, study.Excluded, study.Included, study.Enqueued:
	default:
		if f, ok := e.(study.Finished); ok && f.Trial <= len(m.trials) && m.trials[f.Trial-1].hand {
			m.late = true // somebody has told of it: it may be confirmed
			break
		}
		if r, ok := e.(study.Rerun); ok && m.wanted(r) {
			m.closed = nil
			break
		}
		if m.closed != nil && m.closed.Why != study.EndGuard && !m.opened && !m.elsewhere(e) {
			m.fault("%T after the study was closed", e)
		}
	}
	switch e := e.(type) {
	case study.Excluded:
		m.count(e.Trial, false)
		confirmed := e.Trial <= len(m.trials) && m.trials[e.Trial-1].confirms > 0 // what takes its place is confirmed, too
		m.opened = m.opened || m.closed != nil && (confirmed || !slices.Contains([]study.Ending{study.EndTrials, study.Ending("time")}, m.closed.Why))
	case study.Included:
		m.count(e.Trial, true)
		m.late = true
	case study.Created:
		m.config = e.Config
	case study.ConfigChanged:
		as := e.Config
		if as.Run.Workers = m.config.Run.Workers; !reflect.DeepEqual(as, m.config) {
			m.closed = nil // another number of workers opens nothing
		}
		m.config = e.Config
	case study.Session:
		if m.closed != nil && m.closed.Why == study.EndGuard {
			m.closed = nil
		}
	case study.Proposed:
		m.proposed(e)
	case study.Cut:
		if t := m.trial(e.Trial); t != nil && !t.hand {
			t.cut = &e
		}
	case study.Ended:
		if t := m.ended(e.Trial, e.Attempt, e.Metrics, e.Failure, true); t != nil && e.Metrics != nil {
			t.values = append(t.values, m.loss(e.Metrics))
		}
	case study.Finished:
		m.finished(e)
	case study.Confirmed:
		m.ends[fmt.Sprintf("%d.%d", e.Trial, e.Attempt)] = fmt.Sprint(e.Metrics)
		t := m.trial(e.Trial)
		if t == nil {
			return
		}
		t.done = false // it has ended, and this is another attempt at it
		m.ended(e.Trial, e.Attempt, e.Metrics, e.Failure, true)
		t.done = true
		if e.Failure == nil || !e.Failure.Kind.Blameless() {
			if t.confirms++; t.confirms > m.config.Run.Confirm*(m.config.Run.Retries+1) && !m.plan.has("respec") {
				m.fault("trial %d is confirmed %d times", e.Trial, t.confirms)
			}
		}
	case study.Rerun:
		for _, n := range e.Trials {
			t := m.trial(n)
			if t == nil {
				return
			}
			if !t.done || t.hand || m.succeeded() && !m.wanted(e) {
				m.fault("trial %d is run again: finished %v, by hand %v, and something has succeeded: %v", n, t.done, t.hand, m.succeeded())
			}
			t.done, t.retries, t.cut = false, 0, nil
			if slices.Contains(e.Read, n) {
				t.attempt--
			}
		}
	case study.Closed:
		for i, t := range m.trials {
			if !t.done && !t.hand && !m.overdue(e) {
				m.fault("the study is closed, and trial %d is not finished", i+1)
			}
		}
		m.closed, m.opened = &e, false
	}
}

// elsewhere says whether an event is about a trial that somebody else runs: of that there may be something to
// report at any time.
func (m *simModel) elsewhere(e study.Event) bool {
	n := 0
	switch e := e.(type) {
	case study.Readings:
		n = e.Trial
	case study.Measured:
		n = e.Trial
	case study.Cut:
		n = e.Trial
	case study.Ended:
		n = e.Trial
	}
	return n > 0 && n <= len(m.trials) && m.trials[n-1].hand
}

// overdue reports whether the study was closed by its hard limit of time, which alone may leave
// trials unfinished: with more time they run again.
func (m *simModel) overdue(e study.Closed) bool {
	return m.config.Budget.TimeHard > 0 && e.Detail == fmt.Sprintf("time_hard, %v, is over", m.config.Budget.TimeHard)
}

// count notes that a trial with a value is taken out, or counts again.
func (m *simModel) count(trial int, counts bool) {
	if _, valued := m.counts[trial]; valued {
		m.counts[trial] = counts
	}
}

func (m *simModel) succeeded() bool {
	return slices.Contains(slices.Collect(maps.Values(m.counts)), true)
}

// wanted reports whether somebody has asked for all of it.
func (m *simModel) wanted(e study.Rerun) bool {
	return !slices.ContainsFunc(e.Trials, func(n int) bool { return !m.rerun[n] })
}

func (m *simModel) trial(n int) *simTrial {
	if n < 1 || n > len(m.trials) {
		m.fault("there is no trial %d", n)
		return nil
	}
	return m.trials[n-1]
}

func (m *simModel) loss(metrics study.Metrics) float64 {
	v, ok := metrics.Get(m.config.Objective().Name)
	if !ok {
		m.fault("no objective in %v", metrics)
	}
	return v
}

func (m *simModel) proposed(e study.Proposed) {
	if e.Trial != len(m.trials)+1 || e.Trial > m.config.Budget.Trials {
		m.fault("trial %d is proposed after %d, with a budget of %d", e.Trial, len(m.trials), m.config.Budget.Trials)
	}
	var pending []int
	for i, t := range m.trials {
		if !t.done {
			pending = append(pending, i+1)
		}
	}
	if !e.Hand && m.closed == nil && !m.plan.has("narrow", "widen") && e.Told == len(m.trials)-len(pending) && !slices.Equal(pending, e.Pending) {
		m.fault("trial %d was proposed while %v were pending; it says %v", e.Trial, pending, e.Pending)
	}
	m.trials = append(m.trials, &simTrial{hand: e.Hand})
}

// ended checks the end of any attempt against what it did: single says that the metrics are
// those of this attempt alone.
func (m *simModel) ended(n, attempt int, metrics study.Metrics, f *study.Failure, single bool) *simTrial {
	t := m.trial(n)
	if t == nil {
		return nil
	}
	if t.done || attempt <= t.attempt {
		m.fault("attempt %d.%d ends after %d.%d, finished %v", n, attempt, n, t.attempt, t.done)
	}
	t.attempt = attempt
	r := m.machine.runs[layout.Study(m.dir).Attempt(layout.AttemptID{Trial: n, Attempt: attempt})]
	if f != nil && !f.Kind.Blameless() {
		t.retries++
	}
	switch {
	case r == nil && f != nil && f.Kind == study.FailLaunch && m.config.Safety != nil && m.plan.has("narrow", "exclude", "steer"):
		// it was safe for the ranges of before, or by what has been excluded
	case r == nil:
		if f == nil || f.Kind != study.FailLost && f.Kind != study.FailInterrupted && f.Kind != study.FailTold {
			m.fault("attempt %d.%d never ran, and ended with %v, %v", n, attempt, metrics, f)
		}
	case f == nil && t.cut != nil && t.cut.Complete && r.exit.Code > 128: // it was stopped before it could fail
	case f == nil && (r.lost || r.code != r.good || len(r.lines) == 0 || r.mute):
		m.fault("attempt %d.%d has %v, and ended with code %d after %d lines", n, attempt, metrics, r.code, len(r.lines))
	case f != nil && f.Kind == study.FailInterrupted && !r.lost && isOver(r) && r.exit.Code == r.good && len(r.lines) > 0 && !r.mute:
		m.fault("attempt %d.%d came to its end with %v, and counts as interrupted", n, attempt, r.lines)
	case f != nil && f.Kind == study.FailExit && (r.code == r.good || f.Code != r.exit.Code):
		m.fault("attempt %d.%d failed with %v, and ended with code %d", n, attempt, f, r.exit.Code)
	case f != nil && f.Kind == study.FailNoMetric && len(r.lines) > 0 && !r.mute:
		m.fault("attempt %d.%d failed with %v, and printed %v", n, attempt, f, r.lines)
	case f != nil && f.Kind == study.FailTimeout && !r.exit.TimedOut, f != nil && f.Kind == study.FailLost && !r.lost && !r.shut:
		m.fault("attempt %d.%d failed with %v; it had %+v", n, attempt, f, r.exit)
	case f != nil && slices.Contains([]study.FailureKind{study.FailSignal, study.FailLaunch, study.FailNotFinite}, f.Kind), f != nil && f.Kind == study.FailDisk && !r.exit.DiskFull:
		m.fault("attempt %d.%d failed with %v", n, attempt, f)
	case f == nil && t.cut == nil && (single || m.config.Run.Repeats < 2) && m.loss(metrics) != r.value:
		m.fault("attempt %d.%d has %v, and printed %v", n, attempt, metrics, r.value)
	case f == nil && t.cut == nil && (single || m.config.Run.Repeats < 2):
		m.others(n, attempt, metrics, r)
	}
	return t
}

func (m *simModel) finished(e study.Finished) {
	m.simulation.ends[e.Trial]++
	m.ends[fmt.Sprintf("%d.%d", e.Trial, e.Attempt)] = fmt.Sprint(e.Status, e.Metrics)
	known := m.trial(e.Trial)
	if known != nil && known.hand {
		known.done = true
		return
	}
	f := e.Failure
	if e.Status == optimizer.Pruned && f != nil && f.Kind == study.FailPruned && m.config.Resource() != "" && known != nil && known.cut == nil {
		f = nil // it has a value, of less than all of the resource
	}
	t := m.ended(e.Trial, e.Attempt, e.Metrics, f, false)
	if t == nil {
		return
	}
	t.done = true
	if e.Status != optimizer.Failed {
		m.counts[e.Trial] = true
	}
	r := m.machine.runs[layout.Study(m.dir).Attempt(layout.AttemptID{Trial: e.Trial, Attempt: e.Attempt})]
	switch {
	case e.Status == optimizer.Failed:
		if !f.Kind.Blameless() && t.retries != m.config.Run.Retries+1 && m.config.Budget.Patience == 0 && m.config.Budget.Limit() == 0 && m.config.Budget.WorkerTime == 0 && m.config.Run.FailureGuard < 0 && m.config.Budget.Gap == 0 && !m.aims() && !m.plan.has("respec") {
			m.fault("trial %d failed after %d attempts; %d retries are allowed", e.Trial, t.retries, m.config.Run.Retries)
		}
	case f != nil: // stopped early
		if t.cut != nil && t.cut.Metric != "" {
			break // at a limit
		}
		if t.cut == nil || m.loss(e.Metrics) != t.cut.Reading.Value || !slices.ContainsFunc(r.lines, func(l string) bool { return strings.HasSuffix(l, fmt.Sprintf("loss=%v", m.loss(e.Metrics))) }) {
			m.fault("trial %d was cut at %+v with %v; it printed %v", e.Trial, t.cut, e.Metrics, r.lines)
		}
	case t.cut != nil: // complete
	default:
		m.combined(e, append(t.values, r.value))
	}
}

// combined checks the value of a trial against those of its repeats.
func (m *simModel) combined(e study.Finished, values []float64) {
	if want := max(m.config.Run.Repeats, 1); len(values) != want {
		m.fault("trial %d has %d runs; want %d", e.Trial, len(values), want)
		return
	}
	want := 0.0
	for _, v := range values {
		want += v / float64(len(values))
	}
	if m.config.Run.Combine == "median" {
		slices.Sort(values)
		n := len(values)
		want = (values[(n-1)/2] + values[n/2]) / 2
	}
	if got := m.loss(e.Metrics); math.Abs(got-want) > 1e-12 {
		m.fault("trial %d has the value %v; want %v of %v", e.Trial, got, want, values)
	}
}
