package optuna

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/spaces"
)

// Write writes a journal with one study and the trials, each as it comes. A value of a
// parameter that is none of its values is left out.
func Write(w io.Writer, s *Study, trials iter.Seq[*Trial]) error {
	line := func(fields map[string]any) error {
		fields["study_id"], fields["worker_id"] = 0, "lbotune"
		text, err := json.Marshal(fields)
		if err == nil {
			_, err = w.Write(append(quotedRE().ReplaceAll(text, []byte("$1")), '\n'))
		}
		return err
	}
	err := line(map[string]any{"op_code": createStudy, "study_name": s.Name, "directions": s.Directions})
	if err == nil {
		err = line(map[string]any{"op_code": setStudySystemAttr, "system_attr": map[string]any{metricNames: s.Metrics}})
	}
	ranges := make([]string, len(s.Params))
	for i, p := range s.Params {
		ranges[i] = distribution(p)
	}
	for t := range trials {
		if err != nil {
			break
		}
		err = line(t.fields(s.Params, ranges))
	}
	return err
}

// fields are those of the line that makes the trial, with the distributions of the parameters.
func (t *Trial) fields(params []spaces.Param, ranges []string) map[string]any {
	f := map[string]any{"op_code": createTrial, "state": t.State, "values": nil, "datetime_start": nil}
	distributions, values, course := map[string]string{}, map[string]any{}, map[int]any{}
	for i, p := range params {
		v, ok := t.Params.Get(p.Name)
		if held, err := p.Normalize(v); ok && err == nil {
			distributions[p.Name], values[p.Name] = ranges[i], internal(p, held)
		}
	}
	for step, v := range t.Course {
		course[step] = bare(v)
	}
	f["params"], f["distributions"], f["intermediate_values"] = values, distributions, course
	f["user_attrs"], f["system_attrs"] = attributes(t.User), attributes(t.System)
	if len(t.Values) > 0 {
		f["values"] = lists.Map(t.Values, bare)
	}
	for key, at := range map[string]time.Time{"datetime_start": t.Start, "datetime_complete": t.End} {
		if !at.IsZero() {
			f[key] = at.UTC().Format("2006-01-02T15:04:05.000000-07:00")
		}
	}
	return f
}

// attributes are what is kept with a trial, all numbers as Optuna reads them.
func attributes(of map[string]any) map[string]any {
	as := map[string]any{}
	for name, v := range of {
		switch x := v.(type) {
		case journal.Float:
			v = bare(x)
		case []journal.Float:
			v = lists.Map(x, bare)
		}
		as[name] = v
	}
	return as
}

// bare marks a number that is not finite, so that it stands in the line as Optuna writes it.
func bare(v journal.Float) any {
	text, _ := v.MarshalJSON()
	if text[0] == '"' {
		return mark + string(text[1:len(text)-1])
	}
	return v
}

// distribution is what Optuna calls the values of a parameter. It knows no logit scale, no
// order of choices, and no steps on a log scale.
func distribution(p spaces.Param) string {
	name, a := categorical, map[string]any{"choices": p.Choices}
	switch p.Kind {
	case spaces.KindFloat, spaces.KindInt:
		a = map[string]any{"low": p.Min, "high": p.Max, "log": p.Scale == spaces.Log, "step": nil}
		if name = "FloatDistribution"; p.Kind == spaces.KindInt {
			name, a["step"] = "IntDistribution", 1
		}
		if p.Step > 0 && p.Scale != spaces.Log {
			a["step"] = p.Step
		}
	case spaces.KindBool:
		a["choices"] = []bool{false, true}
	}
	text, _ := json.Marshal(map[string]any{"name": name, "attributes": a}) // nothing of it is not finite
	return string(text)
}

// internal is a value as Optuna stores it: a choice by its place.
func internal(p spaces.Param, v spaces.Value) any {
	switch x, number := v.Number(); {
	case p.Kind == spaces.KindBool:
		return map[bool]int{false: 0, true: 1}[v == spaces.Bool(true)]
	case number && p.Choices == nil:
		return x
	}
	return slices.Index(p.Choices, v)
}

// Is reports whether a file's text is a journal of Optuna.
func Is(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.HasPrefix(first, []byte("{")) && bytes.Contains(first, []byte(`"op_code"`))
}

// record is a line, with the fields of all operations that matter here.
type record struct {
	Op            int                        `json:"op_code"`
	Study         int                        `json:"study_id"`
	Name          string                     `json:"study_name"`
	Directions    []int                      `json:"directions"`
	SystemAttr    map[string]json.RawMessage `json:"system_attr"`
	Trial         int                        `json:"trial_id"`
	State         State                      `json:"state"`
	Value         *journal.Float             `json:"value"`
	Values        []journal.Float            `json:"values"`
	User          map[string]any             `json:"user_attrs"`
	Distributions map[string]string          `json:"distributions"`
	Params        map[string]float64         `json:"params"`
	Param         string                     `json:"param_name"`
	Internal      float64                    `json:"param_value_internal"`
	Distribution  string                     `json:"distribution"`
}

// Read returns the studies of a journal, as Optuna would fold them. A last line without an
// end is still being written.
func Read(text []byte) ([]*Study, error) {
	var studies, owners []*Study // by the ids of studies, nil if deleted, and of trials
	var trials []*Trial
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			continue
		}
		if len(line) > journal.MaxLine {
			return nil, fmt.Errorf("line %d has more than %d MB", i+1, journal.MaxLine>>20)
		}
		var o record
		err := unmarshal(line, &o)
		var s *Study
		if o.Study >= 0 && o.Study < len(studies) {
			s = studies[o.Study]
		}
		switch {
		case err != nil:
		case o.Op == createStudy:
			if !slices.ContainsFunc(studies, func(s *Study) bool { return s != nil && s.Name == o.Name }) {
				studies = append(studies, &Study{Name: o.Name, Directions: o.Directions})
			}
		case o.Op <= createTrial && s == nil: // of a study that was deleted
		case o.Op == deleteStudy:
			studies[o.Study] = nil
		case o.Op == setStudySystemAttr && o.SystemAttr[metricNames] != nil:
			err = unmarshal(o.SystemAttr[metricNames], &s.Metrics)
		case o.Op == createTrial:
			t := &Trial{User: o.User}
			s.Trials, owners, trials = append(s.Trials, t), append(owners, s), append(trials, t)
			err = t.apply(s, &o)
		case o.Op > createTrial && o.Trial >= 0 && o.Trial < len(trials):
			err = trials[o.Trial].apply(owners[o.Trial], &o)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return slices.DeleteFunc(studies, func(s *Study) bool { return s == nil }), nil
}

// unmarshal is json.Unmarshal for what Python writes.
func unmarshal(text []byte, v any) error {
	return json.Unmarshal(bareRE().ReplaceAllFunc(text, func(token []byte) []byte {
		if token[0] == '"' {
			return token
		}
		return fmt.Appendf(nil, "%q", token)
	}), v)
}

// apply does to a trial what a record says. One that has ended stays as it is.
func (t *Trial) apply(s *Study, o *record) error {
	switch {
	case t.State == Complete || t.State == Pruned || t.State == Failed:
		return nil
	case o.Op == setTrialParam:
		return t.set(s, o.Param, o.Distribution, o.Internal)
	case o.Op == createTrial || o.Op == setTrialState:
		t.State, t.Values = o.State, append(t.Values, o.Values...)
		if o.Value != nil {
			t.Values = []journal.Float{*o.Value}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Params)) {
		if err := t.set(s, name, o.Distributions[name], o.Params[name]); err != nil {
			return err
		}
	}
	return nil
}

// set gives a parameter the value that Optuna stores as a number.
func (t *Trial) set(s *Study, name, distribution string, internal float64) error {
	var d struct {
		Name       string
		Attributes struct{ Choices []json.RawMessage }
	}
	if err := unmarshal([]byte(distribution), &d); err != nil {
		return fmt.Errorf("the distribution of %s: %w", name, err)
	}
	v := spaces.Float(internal)
	switch choices := d.Attributes.Choices; {
	case d.Name == categorical && !(internal >= 0 && internal < float64(len(choices))): // nor a database's NULL
		return fmt.Errorf("parameter %s has choice %v of %d", name, internal, len(choices))
	case d.Name == categorical:
		raw := choices[int(internal)]
		if err := json.Unmarshal(raw, &v); err != nil {
			v = spaces.String(string(raw))
		}
		if !v.IsValid() {
			v = spaces.String("None") // null
		}
	case strings.HasPrefix(d.Name, "Int"):
		v = spaces.Int(int64(internal))
	}
	t.Params = append(t.Params, spaces.Assignment{Name: name, Value: v})
	if !slices.ContainsFunc(s.Params, func(p spaces.Param) bool { return p.Name == name }) {
		s.Params = append(s.Params, spaces.Param{Name: name})
	}
	return nil
}
