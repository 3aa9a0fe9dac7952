package study

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study/internal/optuna"
)

// fromOptuna takes the trials of one of the studies that were read, unless there was an error.
func (c *Config) fromOptuna(all []*optuna.Study, study string, err error) (*sheet, error) {
	if err != nil {
		return nil, err
	}
	names := lists.Map(all, func(o *optuna.Study) string { return o.Name })
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
	s := &sheet{columns: namesOf(o.Params)}
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
func (s *State) WriteOptuna(w io.Writer) error {
	o := &optuna.Study{Name: s.Config.Name, Params: s.Config.Params}
	for _, m := range s.Config.Objectives() {
		o.Metrics = append(o.Metrics, m.Name)
		o.Directions = append(o.Directions, map[Direction]int{Minimize: optuna.Minimize, Maximize: optuna.Maximize}[m.Direction])
	}
	return optuna.Write(w, o, func(yield func(*optuna.Trial) bool) {
		for _, t := range s.Trials {
			if !yield(s.optuna(t, o.Metrics)) {
				return
			}
		}
	})
}

// optuna is a trial as Optuna has it, of a study with these objectives.
func (s *State) optuna(t *Trial, metrics []string) *optuna.Trial {
	u := &optuna.Trial{Params: t.Values(), Start: t.Proposed, End: t.Finished, Course: map[int]journal.Float{}, System: map[string]any{},
		User: map[string]any{"lbotune:trial": t.Number, "lbotune:status": s.StandingOf(t), "lbotune:origin": t.Origin}}
	if !t.Hand {
		u.User["lbotune:seconds"] = journal.Seconds(t.Took)
	}
	if len(t.Attempts) > 0 && !t.Attempts[0].Started.IsZero() {
		u.Start = t.Attempts[0].Started
	}
	if t.Failure != nil {
		u.User["lbotune:failure"] = t.Failure.String()
	}
	var notes []string
	for _, n := range s.Notes {
		if n.Trial == t.Number {
			notes = append(notes, n.Text)
			u.User["lbotune:notes"] = notes
		}
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
	if len(u.Values) < len(metrics) {
		u.Values = nil
		for _, name := range metrics {
			if v, ok := t.Metrics.Get(name); ok {
				u.User[name] = journal.Float(v)
			}
		}
	}
	switch {
	case t.Done() && (t.Status == optimizer.Failed || !t.Teaches()):
		u.State, u.Values = optuna.Failed, nil
	case t.Done():
		u.State = map[optimizer.Status]optuna.State{optimizer.Succeeded: optuna.Complete, optimizer.Pruned: optuna.Pruned}[t.Status]
		if over := lists.Map(s.Config.AllLimits(), func(l Limit) journal.Float {
			if _, told := t.Metrics.Get(l.Metric); !told && t.Status == optimizer.Succeeded {
				return journal.Float(math.Inf(1)) // to Optuna what is no number holds its limit
			}
			return journal.Float(l.Over(t.Metrics))
		}); over != nil {
			u.System["constraints"] = over
		}
	}
	number := slices.ContainsFunc(t.Measurements, func(m Measurement) bool { return m.Step != math.Trunc(m.Step) })
	for i, m := range t.Measurements {
		if number {
			m.Step = float64(i)
		}
		if v, ok := m.Metrics[metrics[0]]; ok && len(metrics) == 1 {
			u.Course[int(m.Step)] = journal.Float(v)
		}
	}
	return u
}

// match finds the parameters among the columns of a sheet.
func (c *Config) match(s *sheet, e *Earlier) error {
	e.Ignored = slices.Clone(s.columns)
	for _, p := range c.Params {
		column, err := c.findColumn(s.columns, p.Name, paramColumn(), "params."+p.Name)
		switch {
		case err != nil:
			return err
		case column != "":
			e.rename(p.Name, column)
			e.Ignored = slices.DeleteFunc(e.Ignored, func(name string) bool { return name == column })
		case p.Default.IsValid():
			e.Defaults = append(e.Defaults, p.Name)
		default:
			return fmt.Errorf("there is no parameter %s among %s; if there was none, write default = ... into [params.%s], the value that it had",
				p.Name, strings.Join(s.columns, ", "), p.Name)
		}
	}
	if s.objective != "" {
		e.Ignored = nil // most of a table's columns are no parameters
		e.rename(c.Objective().Name, s.objective)
	}
	return nil
}

func (e *Earlier) rename(name, column string) {
	if name == column {
		return
	}
	if e.Columns == nil {
		e.Columns = map[string]string{}
	}
	e.Columns[name] = column
}

// What other tools put before the names: config/lr (Ray Tune), params.lr and metrics.loss
// (MLflow), params_lr (Optuna), param_lr (scikit-learn), config.lr (W&B), /lr (Orion).
var (
	paramColumn  = pattern.Lazy(`^(?:(?:config|params?|hparams)(?:/.*/|[./_])|/)`)
	metricColumn = pattern.Lazy(`^(?:metrics?|summary|values?)[./_]`)
	noName       = pattern.Lazy(`[^A-Za-z0-9_]`)
)

// findColumn returns the first of the best columns that is there, or else the only one that has a name, perhaps
// behind a prefix, in other letters, or with signs that a name cannot have: Weight-Decay. It is
// empty if there is none. It is none that another parameter or metric has.
func (c *Config) findColumn(columns []string, name string, prefix *regexp.Regexp, best ...string) (string, error) {
	for _, column := range best {
		if slices.Contains(columns, column) {
			return column, nil
		}
	}
	taken := append(namesOf(c.Params), lists.Map(c.Metrics, func(m Metric) string { return m.Name })...)
	for _, is := range []func(n string) bool{
		func(n string) bool { return n == name },
		func(n string) bool { return strings.EqualFold(n, name) && !slices.Contains(taken, n) },
	} {
		found := ""
		for _, column := range columns {
			another := column != name && slices.Contains(taken, column)
			if another || !is(noName().ReplaceAllString(column, "_")) && !is(noName().ReplaceAllString(prefix.ReplaceAllString(column, ""), "_")) {
				continue
			}
			if found != "" {
				return "", fmt.Errorf("%s may be %s or %s; give one of them another name", name, found, column)
			}
			found = column
		}
		if found != "" {
			return found, nil
		}
	}
	return "", nil
}

// parseCell reads a value as tables have it: whole numbers as 3.0, and truth values in capitals.
func parseCell(p spaces.Param, text string) (spaces.Value, error) {
	if p.Kind == spaces.KindBool {
		text = strings.ToLower(text)
	}
	v, err := p.Parse(text)
	if x, no := strconv.ParseFloat(text, 64); err != nil && no == nil && (p.Kind != spaces.KindInt || math.Abs(x) < 1<<53) {
		if whole, no := p.Normalize(spaces.Float(x)); no == nil {
			return whole, nil
		}
	}
	return v, err
}

// readTable reads a CSV file. Its first line names the columns.
func (c *Config) readTable(text []byte) (*sheet, error) {
	number := 0
	for line := range bytes.Lines(text) {
		if number++; len(line) > longestLine {
			return nil, fmt.Errorf("line %d has more than %d MB", number, longestLine>>20)
		}
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("want a study's directory, or a CSV file whose first line names the columns: %w", err)
	}
	for i, name := range head {
		head[i] = strings.TrimSpace(name)
		if slices.Contains(head[:i], head[i]) && head[i] != "" {
			return nil, fmt.Errorf("line 1: there are two columns %s", head[i])
		}
	}
	s, name := &sheet{columns: head}, c.Objective().Name
	if s.objective, err = c.findColumn(head, name, metricColumn(), "metrics."+name, name); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	other := func(names ...string) string { // the first that is a column, and no parameter
		for _, name := range names {
			is := func(h string) bool {
				return strings.EqualFold(h, name) && (!slices.Contains(namesOf(c.Params), h) || slices.Contains(head, "params."+h))
			}
			if i := slices.IndexFunc(head, is); i >= 0 {
				return head[i]
			}
		}
		return ""
	}
	if s.objective = cmp.Or(s.objective, other("value", "objective")); s.objective == "" { // Optuna, Orion
		return nil, fmt.Errorf("line 1: there is no column %s, the objective's, among %s", name, strings.Join(head, ", "))
	}
	standing := other("status", "state", "trial_status") // the last is Ax's
	for {
		cells, err := in.Read()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return nil, err // which names the line
		}
		line, _ := in.FieldPos(0)
		row := sheetRow{where: fmt.Sprintf("line %d", line), cells: map[string]string{}, table: true}
		for i, cell := range cells {
			row.cells[head[i]] = strings.TrimSpace(cell)
		}
		row.value = row.cells[s.objective]
		word := strings.ToLower(row.cells[standing])
		switch word = word[strings.LastIndexByte(word, '.')+1:]; strings.ReplaceAll(word, "_", "") { // TrialState.PRUNED, EarlyStopped
		case "pruned", "stopped", "running", "waiting", "pending", "unfinished", "excluded", "out of range", "interrupted", "new", "reserved", "killed",
			"earlystopped", "usercanceled", "syscanceled", "inprogress", "active", "abandoned", "canceled", "cancelled", "suspended", "scheduled", "queued", "staged", "candidate",
			"dispatched", "stale", "paused", "preempted", "preempting":
			row.left = word
		case "fail", "failed", "broken", "crashed", "error", "timeout", "memoryout":
			row.value = ""
		}
		if s.rows = append(s.rows, row); len(s.rows) > mostRows {
			return nil, fmt.Errorf("there are more than %d lines; the most is %d trials that fit", mostRows, mostEarlier)
		}
	}
}
