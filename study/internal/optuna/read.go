package optuna

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/spaces"
)

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
	return json.Unmarshal(bareRE.ReplaceAllFunc(text, func(token []byte) []byte {
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
	case d.Name == categorical && (internal < 0 || internal >= float64(len(choices))):
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
