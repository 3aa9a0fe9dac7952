package study

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// WarmStart names what a study begins with: an earlier study or a table of results.
type WarmStart struct {
	// From is a study's directory, its journal, the spec that it came from, or a CSV file.
	From string `json:"from"`
	// Same says that the objective is the same: its results are observations.
	Same bool `json:"same,omitempty"`
}

// Earlier is what a study has read of one of Config.WarmStart when it began. Nobody reads
// that again.
type Earlier struct {
	From   string          `json:"from"`
	Same   bool            `json:"same,omitempty"`
	Trials []EarlierResult `json:"trials"`
	// Left is how many more there are, which do not fit, and Why says why the first does not.
	Left int    `json:"left,omitempty"`
	Why  string `json:"why,omitempty"`
	// Defaults are the parameters that it does not know, which have their defaults.
	Defaults []string `json:"defaults,omitempty"`
}

// EarlierResult is one of its trials.
type EarlierResult struct {
	Values spaces.Values `json:"values"`
	// Value is the objective, as the program prints it; none if the trial has failed.
	Value *float64 `json:"value,omitempty"`
}

// SourceError says what is wrong with one of Config.WarmStart.
type SourceError struct {
	Number int // from 1
	From   string
	Err    error
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("warm_start: element %d: %s: %v", e.Number, e.From, e.Err)
}
func (e *SourceError) Unwrap() error { return e.Err }

const (
	mostEarlier  = 5000 // results, all in one record of the journal
	leastRelated = 3    // that succeeded, for a model
)

// ReadEarlier reads the sources of Config.WarmStart after the first n. The error is a
// *SourceError.
func (c *Config) ReadEarlier(n int) ([]Earlier, error) {
	var out []Earlier
	for ; n < len(c.WarmStart); n++ {
		w := c.WarmStart[n]
		e, err := c.readEarlier(w)
		if err != nil {
			return nil, &SourceError{n + 1, w.From, err}
		}
		out = append(out, e)
	}
	return out, nil
}

// sheet is a table of results as text, which is what a CSV file has.
type sheet struct {
	columns []string // the parameters, and whatever else
	rows    []sheetRow
}

type sheetRow struct {
	where string
	cells map[string]string
	value string // of the objective; empty if the trial failed
}

func (c *Config) readEarlier(w WarmStart) (Earlier, error) {
	e := Earlier{From: w.From, Same: w.Same, Trials: []EarlierResult{}}
	s, err := c.readSheet(w.From)
	if err != nil {
		return e, err
	}
	space, search, err := c.spaces()
	if err != nil {
		return e, err
	}
	for _, p := range c.Params {
		switch {
		case slices.Contains(s.columns, p.Name):
		case p.Default.IsValid():
			e.Defaults = append(e.Defaults, p.Name)
		default:
			return e, fmt.Errorf("there is no parameter %s among %s; if there was none, write default = ... into [params.%s], the value that it had",
				p.Name, strings.Join(s.columns, ", "), p.Name)
		}
	}
	succeeded, least := 0, leastRelated
	if w.Same {
		least = 1
	}
	for _, row := range s.rows {
		r, err := c.result(space, row)
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
func (c *Config) result(space *spaces.Space, row sheetRow) (r EarlierResult, err error) {
	for i, p := range c.Params {
		if !space.Exists(i, r.Values) {
			continue
		}
		v := p.Default
		if text := row.cells[p.Name]; text != "" {
			if v, err = p.Parse(text); err != nil {
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

// readSheet reads a study, found as the program finds it, or a CSV file.
func (c *Config) readSheet(from string) (*sheet, error) {
	path := from
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	if strings.HasSuffix(path, ".toml") {
		return c.readStudy(DirFor(path))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return c.readStudy(path)
	}
	return c.readTable(path)
}

// readStudy reads the trials of a study that succeeded or failed.
func (c *Config) readStudy(dir string) (*sheet, error) {
	st, _, err := Load(dir)
	if err != nil {
		return nil, err
	}
	s, name := &sheet{}, c.Objective().Name
	for _, p := range st.Config.Params {
		s.columns = append(s.columns, p.Name)
	}
	var metrics []string
	for _, m := range st.Config.Metrics {
		metrics = append(metrics, m.Name)
	}
	if !slices.Contains(metrics, name) {
		return nil, fmt.Errorf("there is no metric %s among %s", name, strings.Join(metrics, ", "))
	}
	for _, n := range st.Order {
		t := st.Trials[n-1]
		if t.Excluded || t.Status == optimizer.Pruned {
			continue
		}
		row := sheetRow{where: fmt.Sprintf("trial %d", n), cells: map[string]string{}}
		for _, a := range t.Values {
			row.cells[a.Name] = a.Value.Text()
		}
		if v, ok := t.Metrics.Get(name); ok && t.Succeeded() {
			row.value = strconv.FormatFloat(v, 'g', -1, 64)
		}
		s.rows = append(s.rows, row)
	}
	return s, nil
}

// readTable reads a CSV file. Its first line names the columns.
func (c *Config) readTable(path string) (*sheet, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("there is no such study or CSV file: %w", err)
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("want a study's directory, or a CSV file whose first line names the columns: %w", err)
	}
	for i, name := range head {
		head[i] = strings.TrimSpace(name)
	}
	s, name := &sheet{columns: head}, c.Objective().Name
	if !slices.Contains(head, name) {
		return nil, fmt.Errorf("line 1: there is no column %s, the objective's, among %s", name, strings.Join(head, ", "))
	}
	for {
		cells, err := in.Read()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return nil, err // which names the line
		}
		line, _ := in.FieldPos(0)
		row := sheetRow{where: fmt.Sprintf("line %d", line), cells: map[string]string{}}
		for i, cell := range cells {
			row.cells[head[i]] = strings.TrimSpace(cell)
		}
		row.value = row.cells[name]
		s.rows = append(s.rows, row)
	}
}

// Inherited is what the optimizer learns of earlier studies, as far as it lies in today's
// ranges.
func (c *Config) Inherited(s *Search, earlier []Earlier) []optimizer.Earlier {
	var out []optimizer.Earlier
	for _, e := range earlier {
		o := optimizer.Earlier{Same: e.Same}
		for _, r := range e.Trials {
			p, err := s.Encode(r.Values)
			if err != nil {
				continue
			}
			v := math.NaN()
			if r.Value != nil {
				v = c.Objective().Direction.Maximized(*r.Value)
			}
			o.Points, o.Values = append(o.Points, p), append(o.Values, v)
		}
		out = append(out, o)
	}
	return out
}

// Inherited is what the study's optimizer learns of earlier ones.
func (s *State) Inherited() []optimizer.Earlier { return s.Config.Inherited(s.Search, s.Earlier) }
