package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

func newDrive(g *global, above *cobra.Command) {
	cmd := newCommand(above, "drive STUDY", "Let a program ask and tell over one pipe",
		`Drive reads requests from standard input, one JSON object a line, and answers each
with one on standard output: {"do": "ask"}, {"do": "tell", "trial": 1, "value": 0.25},
{"do": "report", "trial": 1, "step": 3, "value": 0.5}, {"do": "enqueue", "params": {"x": 3}},
{"do": "best"} and {"do": "status"}. It ends when its input ends, or lbotune stop asks it
to. STUDY may be a spec whose study has not begun: drive never runs its command. If an
earlier drive handed out trials and was not told their results, drive hands these out
again first.`)
	cmd.Example = `  echo '{"do": "ask"}' | lbotune drive spec.toml`
	dir := cmd.Flags().String("study", "", "keep the study in `DIR` instead of beside the spec")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return workByHand(g, args[0], *dir, func(s *session.Study) error {
			if err := forgetStop(s.Layout()); err != nil {
				return err
			}
			d := &driver{s, handedOut(s.State())}
			return d.serve(cmd.Context(), g.in, g.out)
		})
	}
}

// driver answers a program's requests about one study.
type driver struct {
	*session.Study
	again []*study.Trial // that an earlier driver has handed out
}

type driveRequest struct {
	Do      string                    `json:"do"`
	ID      json.RawMessage           `json:"id,omitempty"` // comes back with the answer
	Trial   int                       `json:"trial"`
	Step    *journal.Float            `json:"step"` // of a report
	Value   *journal.Float            `json:"value"`
	Metrics map[string]*journal.Float `json:"metrics"` // nil for a null, which is no number
	Failed  string                    `json:"failed"`
	Params  spaces.Values             `json:"params"` // to be enqueued
}

// driveAnswer is a line of standard output. OK is false if there is an Error.
type driveAnswer struct {
	OK    bool            `json:"ok"`
	ID    json.RawMessage `json:"id,omitempty"`
	Error string          `json:"error,omitempty"`

	Trial  int            `json:"trial,omitempty"`
	Params *spaces.Values `json:"params,omitempty"`
	Seed   *uint64        `json:"seed,omitempty"`
	Again  bool           `json:"again,omitempty"` // the trial was handed out before
	Status string         `json:"status,omitempty"`
	Reason string         `json:"reason,omitempty"` // of a failure
	Value  *float64       `json:"value,omitempty"`
	Front  []trialJSON    `json:"front,omitempty"` // of several objectives
	// Feasible and Broken are those of a trial as JSON.
	Feasible *bool    `json:"feasible,omitempty"`
	Broken   []string `json:"broken,omitempty"`

	// End says why there is no trial any more, Wait why there is none until another is told.
	End  string `json:"end,omitempty"`
	Wait string `json:"wait,omitempty"`

	Trials     *int  `json:"trials,omitempty"` // of the budget
	Finished   *int  `json:"finished,omitempty"`
	Unfinished []int `json:"unfinished,omitempty"`
}

// driveLine is how many bytes a request may have, driveLook the pause between two looks at what others ask.
const driveLine, driveLook = 1 << 20, 250 * time.Millisecond

// readLine reads the next line, of which only the beginning is returned if it is too long.
func readLine(in *bufio.Reader) (line []byte, tooLong bool, err error) {
	line, tooLong, err = in.ReadLine()
	line = bytes.Clone(line)
	for more := tooLong; more; {
		_, more, _ = in.ReadLine() // an error comes again
	}
	return line, tooLong, err
}

// serve answers until the end of the input, and takes meanwhile what others ask of the study.
func (d *driver) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	type input struct {
		text    []byte
		tooLong bool
		err     error
	}
	lines := make(chan input, 1) // the last may be left there
	go func() {
		for from := bufio.NewReaderSize(in, driveLine); ; {
			text, tooLong, err := readLine(from)
			lines <- input{text, tooLong, err}
			if err != nil {
				return
			}
		}
	}()
	look := time.NewTicker(driveLook)
	defer look.Stop()
	for {
		select {
		case line := <-lines:
			switch {
			case errors.Is(line.err, io.EOF):
				return nil
			case line.err != nil:
				return usagef("standard input: %w", line.err)
			case len(bytes.TrimSpace(line.text)) == 0:
				continue
			}
			a, err := d.answer(ctx, line.text, line.tooLong)
			if err == nil {
				err = printLine(out, a)
			}
			if err != nil {
				return err
			}
		case <-look.C:
			if stopAsked(d.Layout()) {
				return interrupted(byStop{}, session.ErrStopped)
			}
			if err := d.Serve(); err != nil {
				return err
			}
		}
	}
}

// answer answers one line. The error is one of lbotune's own, which ends it.
func (d *driver) answer(ctx context.Context, line []byte, tooLong bool) (a driveAnswer, err error) {
	var r driveRequest
	line = parser.QuoteNonFinite(line)
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	if tooLong {
		err = usagef("the line has more than %d bytes", driveLine)
	} else if err = in.Decode(&r); err != nil {
		var named struct{ ID json.RawMessage }                    // the mistake may stand before the id
		_ = json.NewDecoder(bytes.NewReader(line)).Decode(&named) // not even of what is no JSON
		r.ID, err = named.ID, usagef("the line is no request: %w", err)
	} else if _, end := in.Token(); !errors.Is(end, io.EOF) {
		err = usagef("the line has more than one request, and none was taken")
	}
	r.ID = bytes.ToValidUTF8(r.ID, []byte("\uFFFD"))
	switch {
	case err != nil:
	case r.Do == "ask":
		a, err = d.ask(ctx)
	case r.Do == "tell":
		a, err = d.tell(r)
	case r.Do == "report":
		a, err = d.report(r)
	case r.Do == "enqueue":
		a, err = d.enqueue(r)
	case r.Do == "best":
		a = d.best()
	case r.Do == "status":
		a = d.status()
	default:
		err = usagef(`found "do": %q; allowed are "ask", "tell", "report", "enqueue", "best" and "status"`, r.Do)
	}
	a.ID, a.OK = r.ID, err == nil
	if errors.Is(err, errUsage) {
		a.Error, err = err.Error(), nil
	}
	return a, err
}

func (d *driver) ask(ctx context.Context) (driveAnswer, error) {
	for len(d.again) > 0 && d.State().Unsafe() == "" {
		t := d.again[0]
		d.again = d.again[1:]
		switch {
		case t.Done():
		case !d.State().MayRun(t):
			if err := d.Fail(t.Number, "not started: it is not known any more to be safe"); err != nil {
				return driveAnswer{}, err
			}
		default:
			a := d.handed(t)
			a.Again = true
			return a, nil
		}
	}
	t, err := d.Ask(ctx)
	none := errors.Is(err, session.ErrSpent) || errors.Is(err, optimizer.ErrExhausted)
	pending := d.State().Pending()
	switch {
	case none && len(handedOut(d.State())) > 0 && !d.State().Ended():
		return driveAnswer{Wait: err.Error()}, nil
	case none && len(pending) > 0 && !d.State().Ended():
		return driveAnswer{End: fmt.Sprintf("%v; lbotune resume finishes trial %d, which a run has left", err, pending[0].Number)}, nil
	case none:
		return driveAnswer{End: err.Error()}, nil
	case err != nil:
		return driveAnswer{}, err
	}
	return d.handed(&t), nil
}

// handedOut are the trials that are still to be told, and not what a run has left.
func handedOut(st *study.State) []*study.Trial {
	return slices.DeleteFunc(st.Pending(), func(t *study.Trial) bool { return !t.Hand })
}

func (d *driver) handed(t *study.Trial) driveAnswer {
	seed, values := t.Seed(&d.State().Config), t.Values()
	return driveAnswer{Trial: t.Number, Params: &values, Seed: &seed}
}

func (d *driver) tell(r driveRequest) (driveAnswer, error) {
	objective := d.State().Config.Objective().Name
	if v, told := r.Metrics[objective]; told && r.Value == nil && r.Failed == "" {
		r.Value = v
		delete(r.Metrics, objective)
	}
	others, err := r.numbers()
	switch {
	case r.Step != nil:
		err = usagef(`found "step" in a tell, which ends the trial; a "report" takes it`)
	case (r.Value == nil) == (r.Failed == ""):
		err = usagef(`want either "value", a number, or "failed", the reason why there is none`)
	case r.Failed != "" && len(others) > 0:
		err = usagef(`found "metrics" beside "failed"; a trial that has failed has none`)
	case err == nil:
		value := float64(*cmp.Or(r.Value, new(journal.Float)))
		err = asRefusal(tell(d.Study, r.Trial, value, others, r.Failed))
	}
	if err != nil {
		return driveAnswer{}, err
	}
	return d.ended(r.Trial), nil
}

// numbers are the metrics that are told by their names.
func (r driveRequest) numbers() (study.Metrics, error) {
	metrics := study.Metrics{}
	for name, v := range r.Metrics {
		if v == nil {
			return nil, usagef("found null for %s; want a number", name)
		}
		metrics[name] = float64(*v)
	}
	return metrics, nil
}

func (d *driver) ended(trial int) driveAnswer {
	t := d.State().Trials[trial-1]
	return driveAnswer{Trial: t.Number, Status: string(t.Status), Reason: t.Failure.String()}
}

// report takes readings of a trial under way. The answer has its status if it has ended with them.
func (d *driver) report(r driveRequest) (driveAnswer, error) {
	metrics, err := r.numbers()
	if err != nil {
		return driveAnswer{}, err
	}
	none := journal.Float(math.NaN())
	objective, step := d.State().Config.Objective().Name, float64(*cmp.Or(r.Step, &none))
	_, twice := metrics[objective]
	if r.Value != nil {
		metrics[objective] = float64(*r.Value)
	}
	switch {
	case twice && r.Value != nil:
		return driveAnswer{}, usagef("found two values for %s", objective)
	case r.Failed != "":
		return driveAnswer{}, usagef(`found "failed" in a report; a "tell" takes it, and ends the trial`)
	case len(metrics) == 0:
		return driveAnswer{}, usagef(`want "value", a number, or "metrics", numbers by their names`)
	case r.Step != nil && (math.IsNaN(step) || math.IsInf(step, 0)):
		return driveAnswer{}, usagef("found a step that is not finite; want a number")
	}
	over, err := d.Report(r.Trial, step, metrics)
	switch {
	case err != nil:
		return driveAnswer{}, asRefusal(err)
	case over:
		return d.ended(r.Trial), nil
	}
	return driveAnswer{Trial: r.Trial}, nil
}

func (d *driver) enqueue(r driveRequest) (driveAnswer, error) {
	if len(r.Params) == 0 {
		return driveAnswer{}, usagef(`want "params", the values of one parameter or more`)
	}
	for _, a := range r.Params {
		if !a.Value.IsValid() {
			return driveAnswer{}, usagef("parameter %s: found null; want a value", oneLine(a.Name))
		}
	}
	words := lists.Map(r.Params, func(a spaces.Assignment) string { return a.Name + "=" + a.Value.Text() })
	request, err := enqueueing(words)(d.State())
	if err == nil {
		err = asRefusal(d.Do(request))
	}
	if err != nil {
		return driveAnswer{}, err
	}
	a := driveAnswer{Params: &request.Values}
	if d.State().Ended() {
		a.End = d.State().Closed.Detail
	}
	return a, nil
}

func (d *driver) best() driveAnswer {
	t := d.State().Best()
	if t == nil {
		return driveAnswer{}
	}
	shown := trialsJSON(d.State(), d.Layout())
	a, j := d.handed(t), shown(t)
	a.Value, a.Feasible, a.Broken = &t.Value, j.Feasible, j.Broken
	if d.State().Config.Several() {
		a.Front = lists.Map(d.State().Front(), shown)
	}
	return a
}

func (d *driver) status() driveAnswer {
	st := d.State()
	trials := st.Config.Budget.Trials
	a := driveAnswer{Finished: maybe(true, len(st.Order)), Trials: maybe(trials > 0, trials),
		Unfinished: lists.Map(handedOut(st), func(t *study.Trial) int { return t.Number })}
	if st.Ended() {
		a.End = st.Closed.Detail
	}
	return a
}
