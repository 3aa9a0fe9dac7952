package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// Source is a study to report on. What it needs of the world comes by functions, any of
// which may be nil.
type Source struct {
	State   *study.State
	Dir     string
	Running bool  // a process works on it
	Lost    error // why it can't be read any more, if it was
	// Command is the command line of a trial, Output the end of what it printed. Both
	// have the study's secrets hidden.
	Command, Output func(*study.Trial) string
	// Log copies the end of what an attempt has printed, and what it prints until ended is
	// closed, without secrets and without anything that could command a terminal.
	Log func(ctx context.Context, id layout.AttemptID, stderr bool, w io.Writer, ended <-chan struct{}) error
}

// Study is all that is shown of a study. It is also what --format json and the API have.
type Study struct {
	Name         string          `json:"name"`
	ID           string          `json:"id"`
	Dir          string          `json:"dir"`
	Metric       string          `json:"metric"`
	Direction    study.Direction `json:"direction"`
	Standing     string          `json:"standing"`
	Running      bool            `json:"running"`
	Seed         uint64          `json:"seed"`
	Budget       int             `json:"budget,omitempty"` // trials
	Began        time.Time       `json:"began"`
	Updated      time.Time       `json:"updated"`
	Seconds      float64         `json:"seconds"`
	Best         int             `json:"best,omitempty"`         // the number of the best trial
	Hypervolumes Numbers         `json:"hypervolumes,omitempty"` // of several objectives, those of the front after each trial that finished
	Params       []spaces.Param  `json:"params"`
	Metrics      []string        `json:"metrics"`
	Trials       []*Trial        `json:"trials"`
	Failures     []failures      `json:"failures,omitempty"`
	Model        *Model          `json:"model,omitempty"` // what the optimizer believes; nil where it has no model, for a reason
	NoModel      string          `json:"no_model,omitempty"`
	Notes        []string        `json:"notes,omitempty"`
	Remarks      []string        `json:"remarks,omitempty"` // what lbotune itself has to say of the study

	src     Source
	state   *study.State
	figures Figures
	// ranked are the trials that count, the best first; shown are those that are drawn, in their
	// order.
	ranked, shown []*Trial
	axes          []axis   // of the parameters
	Live          served   `json:"-"`
	Noted         []string `json:"-"` // the notes, each after the trial that it is about
	cells         *Cells   // to draw pictures in characters
	own           []string // remarks without those of the model
	read          time.Time
	Key           string `json:"-"` // parts the trials of several studies on one page
}

// Trial is what is shown of a trial, beside what is known of it.
type Trial struct {
	*study.Trial
	Set       spaces.Values            `json:"values"`   // once it is written
	Standing  string                   `json:"standing"` // one of standings
	Value     *float64                 `json:"value"`
	Why       string                   `json:"why,omitempty"`
	Expected  *float64                 `json:"expected,omitempty"`  // the value that the model predicted
	Lipschitz *optimizer.LipschitzNote `json:"lipschitz,omitempty"` // what the bounds were when the trial was proposed
	Course    []study.Measurement      `json:"course,omitempty"`
	Seconds   float64                  `json:"seconds"`
	Command   string                   `json:"command,omitempty"`
	Output    string                   `json:"output,omitempty"`
	Notes     []string                 `json:"notes,omitempty"`

	src    *Source
	best   bool
	shown  bool // it is drawn
	seen   seen
	drawn  string    // its panel, once that is drawn
	places []float64 // along the axes of the parameters, NaN where one is not active
}

// seen is what of a trial may change, so that it is looked at anew.
type seen struct {
	standing                                       string
	value                                          uint64 // its bits
	attempts, retries, repeats, confirms, readings int
	result                                         int // see ResultAttempt
	done                                           bool
}

// y is the value, NaN if there is none, and metric that of any metric.
func (t *Trial) y() float64 { return orNaN(t.Value) }

func (t *Trial) metric(name string) float64 { return reported(t.Metrics, name) }

func reported(by interface{ Get(string) (float64, bool) }, name string) float64 {
	if v, ok := by.Get(name); ok {
		return v
	}
	return math.NaN()
}

// ifValued are two numbers of a trial that has a value, NaN of one that has none.
func (t *Trial) ifValued(x, y float64) (float64, float64) {
	if t.Value == nil {
		return math.NaN(), math.NaN()
	}
	return x, y
}

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// class is how the trial is drawn.
func (t *Trial) class() string {
	switch {
	case t.best:
		return "d best"
	case !t.Teaches():
		return "d excluded"
	case t.Standing != string(optimizer.Succeeded):
		return "d " + t.Standing
	case t.Origin == optimizer.OriginInitial, t.Origin == optimizer.OriginExplore:
		return "d spread"
	}
	return "d"
}

// failures are those of one reason with an output.
type failures struct {
	Failures
	Output string `json:"output,omitempty"` // the end of what the last of them printed
}

// Last is the trial that failed last.
func (f failures) Last() int { return f.Trials[len(f.Trials)-1] }

// mostReasons are how many reasons of failures are shown.
const mostReasons = 20

// Reasons are the most frequent failures, and MoreReasons says of how many.
func (s *Study) Reasons() []failures { return s.Failures[:min(len(s.Failures), mostReasons)] }

// MoreReasons is empty if Reasons has them all.
func (s *Study) MoreReasons() string {
	if n := len(s.Failures); n > mostReasons {
		return fmt.Sprintf("These are the most frequent %d of %d reasons; export has them all.", mostReasons, n)
	}
	return ""
}

// Of prepares a study to be shown. Asking the model takes from a moment to some seconds;
// the end of ctx leaves it out.
func Of(ctx context.Context, src Source) *Study {
	s := of(src)
	s.ask(ctx)
	return s
}

// of is Of without the model.
func of(src Source) *Study { return after(src, nil) }

// after is what follows an older look: what takes time is taken over from an older look at the same state,
// and then there is only what quick drawings need.
func after(src Source, older *Study) *Study {
	st := src.State
	c := &st.Config
	s := &Study{Name: c.Name, ID: st.ID, Dir: src.Dir, Metric: c.Objective().Name, Direction: c.Objective().Direction,
		Running: src.Running, Standing: st.Standing(src.Running), Seed: c.Seed, Budget: c.Budget.Trials, Began: st.Began, Updated: st.Updated,
		Seconds: journal.Seconds(st.Elapsed), Params: c.Params, Trials: []*Trial{}, src: src, state: st, read: time.Now(), figures: FiguresOf(st, src.Running)}
	s.Metrics = lists.Map(c.Metrics, func(m study.Metric) string { return m.Name })
	s.axes = lists.Map(c.Params, paramAxis)
	s.own = st.Remarks()
	if src.Lost != nil {
		s.own = append(s.own, "this is how it was: "+src.Lost.Error())
	}
	s.Remarks = s.own
	s.Notes = lists.Map(st.Notes, func(n study.Noted) string { return n.Text })
	s.Noted = lists.Map(st.Notes, Note)
	s.Trials = append(s.Trials, lists.Map(st.Trials, s.trial)...)
	notes := NotesByTrial(st) // a journal may have some of trials that there are not
	for _, t := range s.Trials {
		t.Notes = notes[t.Number]
	}
	if b := s.figures.Best; b != nil {
		s.Best = b.Number
		s.Trials[b.Number-1].best = true
	}
	if c.Several() {
		s.Hypervolumes = st.Hypervolumes()
		for _, t := range s.figures.Front {
			s.Trials[t.Number-1].best = true
		}
	}
	for i, f := range FailuresOf(st) {
		group := failures{Failures: f}
		if src.Output != nil && i < mostReasons && older == nil {
			group.Output = src.Output(st.Trials[group.Last()-1])
		}
		s.Failures = append(s.Failures, group)
	}
	s.choose()
	for _, t := range s.shown {
		if older != nil && older.state == st && t.Number <= len(older.Trials) && t.Done() {
			if old := older.Trials[t.Number-1]; old.seen == t.seen {
				t.Command, t.Output, t.drawn = old.Command, old.Output, old.drawn
			}
		}
		if t.drawn == "" {
			t.describe()
		}
		if older == nil {
			s.locate(t)
		}
	}
	return s
}

func (s *Study) ask(ctx context.Context) {
	m, err := s.believe(ctx)
	if err != nil {
		s.take(nil, err.Error())
		return
	}
	m.remarks = s.remarks(m)
	s.take(m, "")
}

// take has the study believe a model, if it is one of its parameters as they are now; otherwise none
// is why there is no model.
func (s *Study) take(m *Model, none string) bool {
	s.Model, s.NoModel, s.Remarks = nil, cmp.Or(none, unasked), s.own
	if m == nil || !reflect.DeepEqual(m.params, s.Params) {
		return false
	}
	s.Model, s.NoModel, s.Remarks = m, "", slices.Clip(s.own)
	for _, text := range m.remarks {
		what, _, _ := strings.Cut(text, ",")
		if !slices.ContainsFunc(s.own, func(said string) bool { return strings.HasPrefix(said, what) }) {
			s.Remarks = append(s.Remarks, text)
		}
	}
	return true
}

// Note is a person's remark, after the trial that it is about.
func Note(n study.Noted) string {
	if n.Trial > 0 {
		return fmt.Sprintf("trial %d: %s", n.Trial, n.Text)
	}
	return n.Text
}

// NotesByTrial are the remarks about each trial that has some.
func NotesByTrial(st *study.State) map[int][]string {
	out := map[int][]string{}
	for _, n := range st.Notes {
		if n.Trial > 0 {
			out[n.Trial] = append(out[n.Trial], n.Text)
		}
	}
	return out
}

func (s *Study) trial(t *study.Trial) *Trial {
	out := &Trial{Trial: t, src: &s.src, Standing: s.state.StandingOf(t), Why: t.Note.Why, Lipschitz: boundsOf(s.state, t), Course: t.Measurements, Seconds: journal.Seconds(t.Took)}
	if t.HasValue() {
		out.Value = ifFinite(t.Value)
	}
	if e := t.Note.Expected; e != nil {
		v := s.good(*e)
		out.Expected = &v
	}
	out.seen = seen{out.Standing, math.Float64bits(t.Value), len(t.Attempts), t.Retries, len(t.Repeats), len(t.Confirms), len(t.Measurements), ResultAttempt(t), t.Done()}
	return out
}

// ResultAttempt is the attempt that a trial has its result from, or its last, 1 if none began.
func ResultAttempt(t *study.Trial) int {
	if n := len(t.Attempts); n > 0 && !t.Done() {
		return t.Attempts[n-1].Number
	}
	return max(t.Attempt, 1)
}

// MarshalJSON implements json.Marshaler. A trial that is not drawn is described for this alone: the
// descriptions of all would take several times the text.
func (t *Trial) MarshalJSON() ([]byte, error) {
	type fields Trial
	all := *t
	if !t.shown {
		all.describe()
	}
	all.Set = t.Values()
	return journal.Plain((*fields)(&all)) // to escape is up to who has it written
}

// describe adds what takes the most room.
func (t *Trial) describe() {
	src := t.src
	if src.Command != nil {
		t.Command = src.Command(t.Trial)
	}
	if src.Output != nil && len(src.State.Trials) <= mostOutputs {
		t.Output = src.Output(t.Trial)
	}
}

// locate says where along the axes of the parameters the trial lies.
func (s *Study) locate(t *Trial) {
	values := t.Values()
	p, err := s.state.Space.Encode(values)
	for i, param := range s.Params {
		at := math.NaN()
		if _, active := values.Get(param.Name); active && err == nil {
			at = place(s.state.Space, i, p)
		}
		t.places = append(t.places, at)
	}
}

// What a trial's standing may be beside the status of a finished one: infeasible is that of one that succeeded
// and breaks a limit, outside that of one whose values today's ranges no longer hold.
const infeasible, excluded, outside, unfinished = "infeasible", "excluded", "out of range", "unfinished"

// count says how many trials have each standing.
func (s *Study) count() map[string]int {
	out := map[string]int{}
	for _, t := range s.Trials {
		out[t.Standing]++
	}
	return out
}

// standings are all that a trial can have.
var standings = []string{"succeeded", infeasible, "failed", "pruned", excluded, outside, unfinished}

// mostOutputs is how many trials a study may have for the end of each one's output to
// be part of the page.
const mostOutputs = 1000

// good is a value turned so that larger is better.
func (s *Study) good(v float64) float64 { return s.Direction.Maximized(v) }

// valued are the trials that have a value, in their order.
func (s *Study) valued() []*Trial {
	return slices.DeleteFunc(slices.Clone(s.Trials), func(t *Trial) bool { return t.Value == nil || !t.Teaches() })
}

func (s *Study) values() []float64 { return lists.Map(s.valued(), (*Trial).y) }
