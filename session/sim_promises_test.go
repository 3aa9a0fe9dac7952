package session_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// aims reports whether a goal may end the study.
func (m *simModel) aims() bool {
	return m.config.Budget.Goal != nil || slices.ContainsFunc(m.config.Metrics, func(x study.Metric) bool { return x.Goal != nil })
}

// others checks all metrics of an attempt against what it printed, and what was measured of it.
func (m *simModel) others(n, attempt int, metrics study.Metrics, r *simRun) {
	for _, metric := range m.config.Metrics {
		got, there := metrics.Get(metric.Name)
		want, printed := r.final[metric.Name]
		if metric.Measure == study.Seconds {
			want, printed = r.exit.Ended.Sub(r.exit.Started).Seconds(), true
		}
		if m.plan.sheet != nil && (there != printed || got != want) {
			m.fault("attempt %d.%d has %s = %v (%v); it was %v (%v)", n, attempt, metric.Name, got, there, want, printed)
		}
	}
}

// certain checks what is called certain, as it is decided: that a trial which is stopped could
// not have become the best, and that a study which ends has no more left to gain than it says.
func (m *simModel) certain(before *study.State, e study.Event) {
	if m.plan.sheet == nil {
		return
	}
	c := before.Config
	worth := func(v float64) float64 { return c.Objective().Direction.Maximized(v) }
	switch e := e.(type) {
	case study.Cut:
		r := m.machine.runs[layout.Study(m.dir).Attempt(layout.AttemptID{Trial: e.Trial, Attempt: e.Attempt})]
		m.plan.tally.add("stopped early")
		switch {
		case before.Trials[e.Trial-1].Hand: // the program that runs it knows better
		case r == nil:
			m.fault("attempt %d.%d is cut and never ran", e.Trial, e.Attempt)
		case e.Metric != "":
			m.plan.tally.add("stopped at a limit")
			limits := c.Limits()
			at := slices.IndexFunc(limits, func(l study.Limit) bool { return l.Metric == e.Metric })
			if v, ok := r.final[e.Metric]; !ok || v <= limits[at].At {
				m.fault("trial %d is stopped at the limit of %s, and would have ended with %v", e.Trial, e.Metric, v)
			}
		case c.Prune.Method == "reachable" && r.code == r.good && !r.mute && len(r.lines) > 0:
			m.plan.tally.add("stopped since it cannot be the best")
			if !slices.ContainsFunc(before.Trials, func(t *study.Trial) bool {
				return t.Succeeded() && !t.Outside && before.Feasible(t) && worth(t.Value) >= worth(r.value)
			}) {
				m.fault("trial %d is stopped, and would have been the best with %v", e.Trial, r.value)
			}
		}
	case study.Closed:
		// What is excluded later leads to no more confirmations.
		if left := len(before.Unconfirmed()); !allByHand(before) && e.Why != study.EndUnsafe && e.Why != study.Ending("time") && left > 0 {
			m.fault("the study has ended, %s, and %d of the best are not confirmed", e.Detail, left)
		}
		if e.Why != "gap" {
			return
		}
		m.plan.tally.add("ended by a certificate")
		over := before.Trials[e.Over-1]
		left := math.Inf(1)
		for i := range 1001 {
			x := c.Params[0].Min + float64(i)/1000*(c.Params[0].Max-c.Params[0].Min)
			left = min(left, math.Abs(x-m.plan.target()))
		}
		if gain := math.Abs(over.Value) - left; gain > c.Budget.Gap+1e-9 {
			m.fault("the study ends with %q, and %v is left to gain", e.Detail, gain)
		}
	}
}

// promised checks a drawn study in its end.
func (s *simulation) promised(st *study.State, journal string) {
	s.counted(st, journal)
	s.valuesArrive(st)
	s.bestHolds(st)
	s.staysSafe(st)
	s.nothingLeft(st)
	for _, piece := range strings.Split(simSecret, `"of"`) { // however it is quoted
		if strings.Contains(journal, piece) {
			s.fault("the journal holds %s of the secret", piece)
		}
	}
}

// counted counts what has come to pass.
func (s *simulation) counted(st *study.State, journal string) {
	y := s.plan.tally
	y.add("studies")
	if st.Config.Safety != nil && len(st.Trials) > 1 {
		y.add("with a safety limit")
	}
	if b := st.Best(); b != nil && infeasible(st) > 0 && len(st.Config.Broken(st.Means(b))) == 0 {
		y.add("with a best that holds limits which others break")
	}
	for kind, text := range map[string]string{"an attempt was interrupted": `"kind":"interrupted"`, "an attempt was lost": `"kind":"lost"`, "the disk was full": `"kind":"disk full"`,
		"a secret was hidden": "[" + simSecretName + "]", "a value was enqueued": `"type":"enqueue"`, "a trial was excluded": `"type":"exclude"`, "a trial was handed out": `"hand":true`,
		"a trial was confirmed": `"type":"confirmed"`, "a range was changed": `"type":"config"`, "a trial was continued": `"continues":`, "something earlier was read": `"type":"earlier"`, "a request was fulfilled": `"request":`, "a failure was taken back": `"type":"rerun"`} {
		if strings.Contains(journal, text) {
			y.add(kind)
		}
	}
}

// simTally counts by name.
type simTally struct {
	mu sync.Mutex
	of map[string]int
}

func (y *simTally) add(what string) {
	if y == nil {
		return
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.of == nil {
		y.of = map[string]int{}
	}
	y.of[what]++
}

// valuesArrive: each attempt was given the values of its trial, and a trial that somebody
// enqueued has these.
func (s *simulation) valuesArrive(st *study.State) {
	for _, r := range s.machine.runs {
		if r.trial == 0 || r.trial > len(st.Trials) {
			continue
		}
		for _, v := range st.Trials[r.trial-1].Values() {
			if got := r.given[v.Name]; got != v.Value.Text() && !slices.Contains(s.plan.settings, "words") {
				s.fault("attempt %d.%d was given %s = %q; the trial has %v", r.trial, r.attempt, v.Name, got, v.Value)
			}
		}
		if text, ok := r.files["values.txt"]; ok && text != "x="+r.given["x"]+"\n" {
			s.fault("attempt %d.%d has a file with %q; the command has %q", r.trial, r.attempt, text, r.given["x"])
		}
	}
	space, err := st.Config.Space()
	if err != nil {
		s.fault("%v", err)
		return
	}
	for _, t := range st.Trials {
		if _, err := space.Encode(t.Values()); err != nil && !t.Outside {
			s.fault("trial %d has %v: %v", t.Number, t.Values(), err)
		}
		if t.Origin == optimizer.OriginGiven && !slices.ContainsFunc(s.enqueued, func(v spaces.Values) bool { return has(t, v) }) {
			s.fault("trial %d has the values %v, which nobody has enqueued", t.Number, t.Values())
		}
	}
	for _, v := range s.enqueued {
		asked, ran := 0, 0
		for _, w := range s.enqueued {
			if w.Equal(v) {
				asked++
			}
		}
		for _, t := range st.Trials {
			if t.Origin == optimizer.OriginGiven && has(t, v) {
				ran++
			}
		}
		if ran > asked {
			s.fault("%v was enqueued %d times, and %d trials have it", v, asked, ran)
		}
	}
}

// has reports whether a trial has the values.
func has(t *study.Trial, v spaces.Values) bool {
	return !slices.ContainsFunc(v, func(a spaces.Assignment) bool {
		got, ok := t.Values().Get(a.Name)
		return !ok || got != a.Value
	})
}

// bestHolds: the trial that is shown as the best holds the limits if any does.
func (s *simulation) bestHolds(st *study.State) {
	best := st.Best()
	if best == nil {
		if st.Count(optimizer.Succeeded) > 0 && slices.ContainsFunc(st.Trials, (*study.Trial).Succeeded) {
			s.fault("something has succeeded, and nothing is the best")
		}
		return
	}
	broken := st.Config.Broken(st.Means(best))
	if session.Judge(st) == nil && len(broken) > 0 {
		s.fault("trial %d is the best, and breaks %v", best.Number, broken)
	}
	several := st.Config.Several()
	for _, t := range st.Trials {
		switch {
		case !t.Succeeded() || st.Doubtful(t):
		case len(st.Config.Broken(st.Means(t))) > 0:
		case len(broken) > 0 && len(st.Confirmations()) == 0:
			s.fault("trial %d is the best, and breaks %v; trial %d holds the limits", best.Number, broken, t.Number)
		case !several && len(st.Confirmations()) == 0 && st.Compare(t, best) < 0:
			s.fault("trial %d is the best with %v; trial %d has %v", best.Number, best.Value, t.Number, t.Value)
		}
	}
	for _, c := range st.Confirmations() {
		if len(broken) > 0 && len(st.Config.Broken(st.Means(c.Trial))) == 0 {
			s.fault("trial %d is the best, and breaks %v; trial %d is confirmed to hold the limits", best.Number, broken, c.Trial.Number)
		}
	}
}

// staysSafe: no trial that the optimizer has proposed breaks the safety limit.
func (s *simulation) staysSafe(st *study.State) {
	if st.Config.Safety == nil {
		return
	}
	for _, t := range st.Trials {
		if p := pressureOf(t.Values()); t.Origin != optimizer.OriginGiven && p > simPressure+1e-9 {
			s.fault("trial %d (%s) breaks the safety limit with %v", t.Number, t.Origin, p)
		}
	}
}

// nothingLeft: the directory of the study holds what it must, and nothing else.
func (s *simulation) nothingLeft(st *study.State) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.fault("%v", err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{"journal.jsonl", "trials", "setup", "hooks.log"}, e.Name()) && !(e.Name() == "requests" && s.plan.has("steer")) {
			s.fault("the study's directory holds %s", e.Name())
		}
	}
	if left, err := inbox.Read(layout.Study(s.dir)); err != nil || len(left) > 0 {
		s.fault("requests are left: %v, %v", left, err)
	}
	s.hooksRanOnce(st)
	trials, _ := os.ReadDir(filepath.Join(s.dir, "trials"))
	there := map[string]bool{}
	for _, e := range trials {
		there[e.Name()] = true
		n, err := strconv.Atoi(e.Name())
		if err != nil || n < 1 || n > len(st.Trials) {
			s.fault("the directory of the trials holds %s", e.Name())
		}
	}
	best := st.Best()
	if st.Config.Run.Keep == 0 || best == nil || best.Hand || s.plan.has("exclude", "include", "ask", "tell", "try", "beside", "narrow", "widen", "steer", "respec") || s.plan.drives() {
		return
	}
	if !there[fmt.Sprintf("%06d", best.Number)] {
		s.fault("trial %d is the best, and its directory is gone", best.Number)
	}
	if len(s.plan.steps) > 0 {
		return
	}
	kept := append(st.Ranked()[:min(st.Config.Run.Keep, len(st.Ranked()))], best)
	kept = slices.Concat(kept, st.Front(), st.Unconfirmed(), st.Pending())
	for _, n := range slices.Backward(st.Order) {
		if st.Trials[n-1].Status == optimizer.Failed {
			kept = append(kept, st.Trials[n-1]) // whose output says why
			break
		}
	}
	for name := range there {
		if n, _ := strconv.Atoi(name); !slices.ContainsFunc(kept, func(t *study.Trial) bool { return t.Number == n || len(t.Confirms) > 0 }) {
			s.fault("the directory of trial %d is kept", n)
		}
	}
}

// simHook notes what it is run for, and whether the trial's directory is there.
const simHook = `test -d "$LBOTUNE_TRIAL_DIR" || echo gone; echo "$LBOTUNE_TRIAL" >> "$LBOTUNE_STUDY/../hooked"`

// hooksRanOnce: the hook of a trial ran at most as often as it has finished, while its directory
// was there; without a death of lbotune as often.
func (s *simulation) hooksRanOnce(st *study.State) {
	if st.Config.Hooks == nil {
		return
	}
	text, _ := os.ReadFile(filepath.Join(filepath.Dir(s.dir), "hooked"))
	ran := map[string]int{}
	for line := range strings.Lines(string(text)) {
		ran[strings.TrimSpace(line)]++
	}
	for _, t := range st.Trials {
		n := ran[strconv.Itoa(t.Number)]
		if ends := s.ends[t.Number]; n > ends || n < ends && len(s.plan.steps) == 0 {
			s.fault("the hook of trial %d has run %d times; it has finished %d times", t.Number, n, ends)
		}
	}
	if said, _ := os.ReadFile(filepath.Join(s.dir, "hooks.log")); strings.Contains(string(said), "gone") && !s.plan.has("ask", "tell", "try", "beside") && !s.plan.drives() {
		s.fault("a hook has found no directory of its trial")
	}
}
