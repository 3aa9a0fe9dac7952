package study

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study/internal/optuna"
)

// WarmStart names what a study begins with: an earlier study or a table of results.
type WarmStart struct {
	// From is a study's directory, its journal, the spec that it came from, a CSV file, or a
	// journal of Optuna, of which Study is the study if there are several.
	From  string `json:"from"`
	Study string `json:"study,omitempty"`
	// Same says that the objective is the same: its results are observations.
	Same bool `json:"same,omitempty"`
}

// Earlier is what a study has read of one of Config.WarmStart before its first trial. After
// that nobody reads it again.
type Earlier struct {
	From   string          `json:"from"`
	Same   bool            `json:"same,omitempty"`
	Trials []EarlierResult `json:"trials"`
	// Left is how many more there are, which do not fit, and Why says why the first does not.
	Left int    `json:"left,omitempty"`
	Why  string `json:"why,omitempty"`
	// Defaults are the parameters that it does not know, which have their defaults.
	Defaults []string `json:"defaults,omitempty"`
	// Columns are what it calls parameters and the objective, where it calls them otherwise.
	Columns map[string]string `json:"columns,omitempty"`
	// Ignored are its parameters that today's study does not have.
	Ignored []string `json:"ignored,omitempty"`
}

// EarlierResult is one of its trials.
type EarlierResult struct {
	Values spaces.Values `json:"values"`
	// Value is the objective, as the program prints it; none if the trial has failed.
	Value *float64 `json:"value,omitempty"`
}

const (
	mostEarlier  = 5000             // results, all in one record of the journal
	mostRows     = 20 * mostEarlier // of a table, those that do not fit included
	leastRelated = 3                // that succeeded, for a model
)

// ReadEarlier reads the sources of Config.WarmStart after the first n. The error is a *SpecError.
func (c *Config) ReadEarlier(n int) ([]Earlier, error) {
	var out []Earlier
	for ; n < len(c.WarmStart); n++ {
		w := c.WarmStart[n]
		e, err := c.readEarlier(w)
		if err != nil {
			return nil, &SpecError{fmt.Errorf("warm_start: element %d: %s: %w", n+1, w.From, err)}
		}
		out = append(out, e)
	}
	return out, nil
}

// sheet is a table of results as text, which is what a CSV file has.
type sheet struct {
	columns   []string // the parameters, and in a table whatever else
	objective string   // the column that has it, in a table
	rows      []sheetRow
}

type sheetRow struct {
	where string
	cells map[string]string // those that are there
	value string            // of the objective; empty if the trial failed
	left  string            // why it counts as no result, if so
	table bool              // where an empty cell says nothing, unless that is a choice
}

func newRow(trial int, values spaces.Values) sheetRow {
	row := sheetRow{where: fmt.Sprintf("trial %d", trial), cells: map[string]string{}}
	for _, a := range values {
		row.cells[a.Name] = a.Value.Text()
	}
	return row
}

func (c *Config) readEarlier(w WarmStart) (Earlier, error) {
	e := Earlier{From: w.From, Same: w.Same, Trials: []EarlierResult{}}
	s, err := c.readSheet(w)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoStudy) {
		err = c.nearest(w.From, err)
	}
	if err != nil {
		return e, err
	}
	space, search, err := c.spaces()
	if err != nil {
		return e, err
	}
	if err := c.match(s, &e); err != nil {
		return e, err
	}
	succeeded, least := 0, leastRelated
	if w.Same {
		least = 1
	}
	for _, row := range s.rows {
		r, err := c.result(space, row, e.Columns)
		if err == nil {
			_, err = search.Encode(r.Values)
		}
		if err != nil {
			if e.Left++; e.Left == 1 {
				e.Why = fmt.Sprintf("%s: %v", row.where, err)
			}
			continue
		}
		if r.Value != nil {
			succeeded++
		}
		e.Trials = append(e.Trials, r)
	}
	switch {
	case succeeded < least && e.Left > 0:
		return e, fmt.Errorf("%d of %d trials succeeded with values that fit; want at least %d; the first that does not fit is %s", succeeded, len(s.rows), least, e.Why)
	case succeeded < least:
		return e, fmt.Errorf("%d of %d trials succeeded; want at least %d", succeeded, len(s.rows), least)
	case len(e.Trials) > mostEarlier:
		return e, fmt.Errorf("there are %d trials; the most is %d", len(e.Trials), mostEarlier)
	}
	return e, nil
}

// result maps a row to today's parameters.
func (c *Config) result(space *spaces.Space, row sheetRow, columns map[string]string) (r EarlierResult, err error) {
	if row.left != "" {
		return r, errors.New(row.left)
	}
	for i, p := range c.Params {
		if !space.Exists(i, r.Values) {
			continue
		}
		v := p.Default
		if text, has := row.cells[cmp.Or(columns[p.Name], p.Name)]; has {
			if at, err := parseCell(p, text); err == nil {
				v = at
			} else if text != "" || !row.table {
				return r, err
			}
		}
		if !v.IsValid() {
			return r, fmt.Errorf("parameter %s has no value", p.Name)
		}
		r.Values = append(r.Values, spaces.Assignment{Name: p.Name, Value: v})
	}
	if row.value == "" {
		return r, nil
	}
	x, err := strconv.ParseFloat(row.value, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return r, fmt.Errorf("%s: found %q; want a number", c.Objective().Name, row.value)
	}
	if !math.IsNaN(x) && !math.IsInf(x, 0) { // else it has failed
		r.Value = &x
	}
	return r, nil
}

// What a file of earlier results, and a line of a table, may have at most, in bytes.
const largestSheet, longestLine = 256 << 20, 1 << 20

// readSheet reads a study, found as the program finds it, a CSV file, or a journal or database of Optuna.
func (c *Config) readSheet(w WarmStart) (*sheet, error) {
	path, dir := command.Inside(c.Dir, w.From), ""
	switch info, err := os.Stat(path); {
	case strings.HasSuffix(path, ".toml"):
		dir = layout.DirFor(path)
	case err == nil && info.IsDir():
		dir = path
	case path == layout.Study(filepath.Dir(path)).Journal():
		dir = filepath.Dir(path)
	}
	var text []byte
	var err error
	if dir == "" {
		text, err = door.ReadFile(path, largestSheet)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no such study or CSV file: %w", err)
	case err != nil:
		return nil, err
	case optuna.Is(text):
		all, err := optuna.Read(text)
		return c.fromOptuna(all, w.Study, err)
	case optuna.IsDatabase(text):
		for _, end := range []string{"-journal", "-wal"} { // changes that the file has half or not yet
			if info, err := os.Stat(path + end); err == nil && info.Size() > 0 {
				return nil, fmt.Errorf("the database is being written to, or was not closed: there is %s", filepath.Base(path)+end)
			}
		}
		all, err := optuna.ReadDatabase(text)
		return c.fromOptuna(all, w.Study, err)
	case w.Study != "":
		return nil, fmt.Errorf("study = %q is for a journal or database of Optuna, which this is not", w.Study)
	case dir != "":
		return c.readStudy(layout.Study(dir).Journal())
	case journal.Is(text):
		return c.readStudy(path)
	}
	return c.readTable(text)
}

// nearest adds to the error about a path that does not exist what it may misspell.
func (c *Config) nearest(from string, err error) error {
	dir, base := filepath.Split(from)
	entries, _ := os.ReadDir(command.Inside(c.Dir, dir))
	if near, ok := spelling.Nearest(base, lists.Map(entries, fs.DirEntry.Name)); ok && near != base {
		return fmt.Errorf("%w; did you mean %s?", err, dir+near)
	}
	return err
}

// readStudy reads the trials of a study that succeeded or failed.
func (c *Config) readStudy(path string) (*sheet, error) {
	st, err := load(path)
	if err != nil {
		return nil, err
	}
	s, name := &sheet{columns: namesOf(st.Config.Params)}, c.Objective().Name
	metrics := lists.Map(st.Config.Metrics, func(m Metric) string { return m.Name })
	if !slices.Contains(metrics, name) {
		return nil, fmt.Errorf("there is no metric %s among %s", name, strings.Join(metrics, ", "))
	}
	for _, n := range st.Order {
		t := st.Trials[n-1]
		row := newRow(n, t.Values())
		switch {
		case t.Excluded:
			row.left = "excluded"
		case t.Status == optimizer.Pruned:
			row.left = "stopped early"
		}
		if v, ok := t.Metrics.Get(name); ok && t.Status == optimizer.Succeeded { // also outside of that study's ranges as they are now
			row.value = strconv.FormatFloat(v, 'g', -1, 64)
		}
		s.rows = append(s.rows, row)
	}
	return s, nil
}

// Inherited is what the study's optimizer learns of earlier ones, as far as it lies in today's ranges.
func (s *State) Inherited() []optimizer.Earlier {
	var out []optimizer.Earlier
	for _, e := range s.Earlier {
		o, valued := optimizer.Earlier{Same: e.Same}, 0
		for _, r := range e.Trials {
			p, err := s.Search.Encode(r.Values)
			if err != nil {
				continue
			}
			v := math.NaN()
			if r.Value != nil {
				v = s.worth(*r.Value)
				valued++
			}
			o.Points, o.Values = append(o.Points, p), append(o.Values, v)
		}
		if !e.Same && valued < leastRelated { // since ranges were narrowed
			o = optimizer.Earlier{Same: true} // nothing: they make no model
		}
		out = append(out, o)
	}
	return out
}
