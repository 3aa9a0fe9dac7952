package study

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study/internal/optuna"
)

// fromOptuna takes the trials of one of the studies that were read, unless there was an error.
func (c *Config) fromOptuna(all []*optuna.Study, study string, err error) (*sheet, error) {
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range all {
		names = append(names, o.Name)
	}
	at := slices.Index(names, study)
	if at < 0 && (study != "" || len(all) != 1) {
		return nil, fmt.Errorf("it has the studies %q; name one of them by study", names)
	}
	at = max(at, 0)
	o, name, which := all[at], c.Objective().Name, 0
	switch {
	case len(o.Metrics) > 0:
		if which = slices.Index(o.Metrics, name); which < 0 || which >= len(o.Directions) {
			return nil, fmt.Errorf("there is no metric %s among %s", name, strings.Join(o.Metrics, ", "))
		}
	case len(o.Directions) != 1:
		return nil, fmt.Errorf("it has %d objectives without names; which one is %s cannot be told", len(o.Directions), name)
	}
	if (o.Directions[which] == optuna.Maximize) != (c.Objective().Direction == Maximize) {
		return nil, fmt.Errorf("its objective has the other direction: this study is to %s %s", c.Objective().Direction, name)
	}
	s := &sheet{}
	for _, p := range o.Params {
		s.columns = append(s.columns, p.Name)
	}
	for i, t := range o.Trials {
		row := newRow(i, t.Params)
		switch standing, _ := t.User["lbotune:status"].(string); {
		case standing == "excluded" || standing == "out of range":
			row.left = standing
		case t.State == optuna.Complete && which < len(t.Values):
			row.value = strconv.FormatFloat(float64(t.Values[which]), 'g', -1, 64)
		case t.State == optuna.Pruned:
			row.left = "stopped early"
		case t.State != optuna.Failed:
			row.left = "not finished"
		}
		s.rows = append(s.rows, row)
	}
	return s, nil
}

// WriteOptuna writes the study as a journal of Optuna: trial 1 is number 0 there. Trials that do
// not count have failed, and what it has no place for are attributes.
func (s *State) WriteOptuna(w io.Writer) error { return optuna.Write(w, s.optuna()) }

func (s *State) optuna() *optuna.Study {
	o := &optuna.Study{Name: s.Config.Name, Params: s.Config.Params}
	for _, m := range s.Config.Objectives() {
		o.Metrics = append(o.Metrics, m.Name)
		o.Directions = append(o.Directions, map[Direction]int{Minimize: optuna.Minimize, Maximize: optuna.Maximize}[m.Direction])
	}
	for _, t := range s.Trials {
		u := &optuna.Trial{Params: t.Values, Start: t.Proposed, End: t.Finished, Course: map[int]journal.Float{}, System: map[string]any{},
			User: map[string]any{"lbotune:trial": t.Number, "lbotune:status": s.StandingOf(t), "lbotune:origin": t.Origin, "lbotune:seconds": t.Took.Seconds()}}
		if len(t.Attempts) > 0 && !t.Attempts[0].Started.IsZero() {
			u.Start = t.Attempts[0].Started
		}
		if t.Failure != nil {
			u.User["lbotune:failure"] = t.Failure.String()
		}
		for _, m := range s.Config.Metrics {
			switch v, ok := t.Metrics.Get(m.Name); {
			case !ok:
			case m.Direction != "" && t.Teaches():
				u.Values = append(u.Values, journal.Float(v))
			default:
				u.User[m.Name] = journal.Float(v)
			}
		}
		if len(u.Values) < len(o.Metrics) {
			u.Values = nil
		}
		switch {
		case t.Done() && (t.Status == optimizer.Failed || !t.Teaches()):
			u.State, u.Values = optuna.Failed, nil
		case t.Done():
			u.State = map[optimizer.Status]optuna.State{optimizer.Succeeded: optuna.Complete, optimizer.Pruned: optuna.Pruned}[t.Status]
			var over []journal.Float
			for _, limit := range s.Config.AllLimits() {
				over = append(over, journal.Float(limit.Over(t.Metrics)))
			}
			if over != nil {
				u.System["constraints"] = over
			}
		}
		for i, m := range t.Measurements {
			if m.Step != math.Trunc(m.Step) {
				m.Step = float64(i)
			}
			if v, ok := m.Metrics[o.Metrics[0]]; ok && len(o.Metrics) == 1 {
				u.Course[int(m.Step)] = journal.Float(v)
			}
		}
		o.Trials = append(o.Trials, u)
	}
	return o
}
