package optuna

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/lbotune/lbotune/spaces"
)

// Write writes a journal with one study. A value of a parameter that is none of its values
// is left out.
func Write(w io.Writer, s *Study) error {
	out := bufio.NewWriter(w)
	line := func(op operation, fields map[string]any) error {
		fields["op_code"], fields["worker_id"] = op, "lbotune"
		text, err := json.Marshal(fields)
		if err == nil {
			_, err = out.Write(append(pythonic(text), '\n'))
		}
		return err
	}
	directions := []int{}
	for _, larger := range s.Maximize {
		directions = append(directions, map[bool]int{false: 1, true: 2}[larger])
	}
	if err := line(createStudy, map[string]any{"study_name": s.Name, "directions": directions}); err != nil {
		return err
	}
	if err := line(setStudySystemAttr, map[string]any{"study_id": 0, "system_attr": map[string]any{metricNames: s.Metrics}}); err != nil {
		return err
	}
	for _, t := range s.Trials {
		if err := line(createTrial, trialFields(s.Params, t)); err != nil {
			return err
		}
	}
	return out.Flush()
}

func trialFields(params []spaces.Param, t Trial) map[string]any {
	distributions, values := map[string]string{}, map[string]any{}
	for _, p := range params {
		v, ok := t.Params.Get(p.Name)
		if held, err := p.Normalize(v); ok && err == nil {
			distributions[p.Name], values[p.Name] = distribution(p), internal(p, held)
		}
	}
	course := map[int]float{}
	for step, v := range t.Course {
		course[step] = float(v)
	}
	system := map[string]any{}
	if t.Constraints != nil {
		system["constraints"] = t.Constraints
	}
	user := t.User
	if user == nil {
		user = map[string]any{}
	}
	f := map[string]any{"study_id": 0, "state": t.State, "value": nil, "values": nil, "params": values, "distributions": distributions,
		"user_attrs": user, "system_attrs": system, "intermediate_values": course, "datetime_start": nil}
	switch len(t.Values) {
	case 0:
	case 1:
		f["value"] = float(t.Values[0])
	default:
		f["values"] = t.Values
	}
	const microseconds = "2006-01-02T15:04:05.000000-07:00"
	for key, at := range map[string]time.Time{"datetime_start": t.Start, "datetime_complete": t.End} {
		if !at.IsZero() {
			f[key] = at.UTC().Format(microseconds)
		}
	}
	return f
}

// distribution is what Optuna calls the values of a parameter. It knows no logit scale, no
// order of choices, and no steps on a log scale.
func distribution(p spaces.Param) string {
	name, a := categorical, map[string]any{}
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
	default:
		a["choices"] = p.Choices
	}
	text, _ := json.Marshal(map[string]any{"name": name, "attributes": a}) // what a parameter holds can be written
	return string(text)
}

// internal is a value as Optuna stores it: a choice by its place.
func internal(p spaces.Param, v spaces.Value) any {
	if x, ok := v.Number(); ok && p.Choices == nil {
		return x
	}
	if v == spaces.Bool(true) && p.Choices == nil {
		return 1
	}
	return max(slices.Index(p.Choices, v), 0)
}

// float is a number that may be NaN or infinite, which Python writes bare in its JSON.
type float float64

const bare = "\ue000" // before what loses its quotes

// MarshalJSON implements json.Marshaler.
func (f float) MarshalJSON() ([]byte, error) {
	switch x := float64(f); {
	case math.IsNaN(x):
		return json.Marshal(bare + "NaN")
	case math.IsInf(x, 0):
		return json.Marshal(bare + strconv.FormatFloat(x, 'g', -1, 64)[:1] + "Infinity")
	}
	return json.Marshal(float64(f))
}

// pythonic takes the quotes from what is bare.
func pythonic(text []byte) []byte {
	for from, to := range map[string]string{"NaN": "NaN", "+Infinity": "Infinity", "-Infinity": "-Infinity"} {
		text = bytes.ReplaceAll(text, []byte(`"`+bare+from+`"`), []byte(to))
	}
	return text
}
