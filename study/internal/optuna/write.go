package optuna

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/lbotune/lbotune/spaces"
)

// Write writes a journal with one study. A value of a parameter that is none of its values
// is left out.
func Write(w io.Writer, s *Study) error {
	lines := []map[string]any{
		{"op_code": createStudy, "study_name": s.Name, "directions": s.Directions},
		{"op_code": setStudySystemAttr, "system_attr": map[string]any{metricNames: s.Metrics}},
	}
	for _, t := range s.Trials {
		lines = append(lines, t.fields(s.Params))
	}
	for _, fields := range lines {
		fields["study_id"], fields["worker_id"] = 0, "lbotune"
		text, err := json.Marshal(fields)
		if err == nil {
			_, err = w.Write(append(quotedRE.ReplaceAll(text, []byte("$1")), '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fields are those of the line that makes the trial.
func (t *Trial) fields(params []spaces.Param) map[string]any {
	f := map[string]any{"op_code": createTrial, "state": t.State, "values": nil, "datetime_start": nil}
	distributions, values, course := map[string]string{}, map[string]any{}, map[int]any{}
	for _, p := range params {
		v, ok := t.Params.Get(p.Name)
		if held, err := p.Normalize(v); ok && err == nil {
			distributions[p.Name], values[p.Name] = distribution(p), internal(p, held)
		}
	}
	for step, v := range t.Course {
		text, _ := v.MarshalJSON()
		if course[step] = v; text[0] == '"' {
			course[step] = mark + string(text[1:len(text)-1])
		}
	}
	f["params"], f["distributions"], f["intermediate_values"] = values, distributions, course
	f["user_attrs"], f["system_attrs"] = map[string]any{}, map[string]any{}
	if t.User != nil {
		f["user_attrs"] = t.User
	}
	if t.System != nil {
		f["system_attrs"] = t.System
	}
	if len(t.Values) > 0 {
		f["values"] = t.Values
	}
	for key, at := range map[string]time.Time{"datetime_start": t.Start, "datetime_complete": t.End} {
		if !at.IsZero() {
			f[key] = at.UTC().Format("2006-01-02T15:04:05.000000-07:00")
		}
	}
	return f
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
