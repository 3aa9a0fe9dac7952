package optuna

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
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
	Op            operation                  `json:"op_code"`
	Study         int                        `json:"study_id"`
	StudyName     string                     `json:"study_name"`
	Directions    []int                      `json:"directions"`
	SystemAttr    map[string]json.RawMessage `json:"system_attr"`
	Trial         int                        `json:"trial_id"`
	State         State                      `json:"state"`
	Value         *journal.Float             `json:"value"`
	Values        []journal.Float            `json:"values"`
	Distributions map[string]string          `json:"distributions"`
	Params        map[string]float64         `json:"params"`
	Param         string                     `json:"param_name"`
	Internal      float64                    `json:"param_value_internal"`
	Distribution  string                     `json:"distribution"`
}

// Read returns the studies of a journal, as Optuna would fold them. A last line without an
// end is still being written.
func Read(text []byte) ([]*Study, error) {
	var studies []*Study // by their ids; nil if deleted
	type place struct {
		study *Study
		trial int
	}
	var trials []place // by their ids
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, line := range lines {
		var r record
		if len(line) == 0 || !bytes.HasSuffix(line, []byte("\n")) {
			continue
		}
		err := json.Unmarshal(bareRE.ReplaceAllFunc(line, quoted), &r)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		var s *Study
		if r.Study >= 0 && r.Study < len(studies) {
			s = studies[r.Study]
		}
		switch r.Op {
		case createStudy:
			if !slices.ContainsFunc(studies, func(s *Study) bool { return s != nil && s.Name == r.StudyName }) {
				studies = append(studies, r.study())
			}
			continue
		case deleteStudy:
			if s != nil {
				studies[r.Study] = nil
			}
			continue
		case setStudySystemAttr:
			if names := r.SystemAttr[metricNames]; s != nil && names != nil {
				err = json.Unmarshal(names, &s.Metrics)
			}
		case createTrial:
			if s == nil {
				continue
			}
			trials = append(trials, place{s, len(s.Trials)})
			s.Trials = append(s.Trials, Trial{})
			r.Trial = len(trials) - 1
		}
		if r.Op >= createTrial && r.Trial >= 0 && r.Trial < len(trials) {
			at := trials[r.Trial]
			err = at.study.Trials[at.trial].apply(at.study, &r)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return slices.DeleteFunc(studies, func(s *Study) bool { return s == nil }), nil
}

func (r *record) study() *Study {
	s := &Study{Name: r.StudyName}
	for _, d := range r.Directions {
		s.Maximize = append(s.Maximize, d == 2)
	}
	return s
}

// apply does to a trial what a record says. A trial that has ended stays as it is.
func (t *Trial) apply(s *Study, r *record) error {
	if t.State == Complete || t.State == Pruned || t.State == Failed {
		return nil
	}
	switch r.Op {
	case createTrial:
		for _, name := range slices.Sorted(maps.Keys(r.Params)) {
			if err := t.set(s, name, r.Distributions[name], r.Params[name]); err != nil {
				return err
			}
		}
	case setTrialParam:
		return t.set(s, r.Param, r.Distribution, r.Internal)
	case setTrialStateValues:
	default:
		return nil
	}
	t.State = r.State
	if r.Value != nil {
		r.Values = []journal.Float{*r.Value}
	}
	for _, v := range r.Values {
		t.Values = append(t.Values, float64(v))
	}
	return nil
}

// set gives a parameter the value that Optuna stores as a number.
func (t *Trial) set(s *Study, name, distribution string, internal float64) error {
	var d struct {
		Name       string
		Attributes struct{ Choices []json.RawMessage }
	}
	if err := json.Unmarshal(bareRE.ReplaceAllFunc([]byte(distribution), quoted), &d); err != nil {
		return fmt.Errorf("the distribution of %s: %w", name, err)
	}
	v := spaces.Float(internal)
	switch choices := d.Attributes.Choices; {
	case d.Name == categorical:
		if internal < 0 || internal >= float64(len(choices)) {
			return fmt.Errorf("parameter %s has choice %v of %d", name, internal, len(choices))
		}
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

// bareRE finds the strings in a line, and what Python writes where JSON has no number.
var bareRE = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)

func quoted(text []byte) []byte {
	if text[0] == '"' {
		return text
	}
	return fmt.Appendf(nil, "%q", text)
}
