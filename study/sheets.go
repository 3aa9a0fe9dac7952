package study

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/spaces"
)

// match finds the parameters among the columns of a sheet.
func (c *Config) match(s *sheet, e *Earlier) error {
	e.Ignored = slices.Clone(s.columns)
	for _, p := range c.Params {
		column, err := findColumn(s.columns, p.Name, paramColumn)
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
	if s.table {
		e.Ignored = nil // most of them are no parameters
	}
	if s.objective != "" {
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
	paramColumn  = regexp.MustCompile(`^(?:(?:config|params?|hparams)(?:/.*/|[./_])|/)`)
	metricColumn = regexp.MustCompile(`^(?:metrics?|summary|values?)[./_]`)
	noName       = regexp.MustCompile(`[^A-Za-z0-9_]`)
)

// findColumn returns the column with a name or, if there is none, the one that has it behind
// a prefix, or with signs that a name cannot have: weight-decay. It is empty if there is none.
func findColumn(columns []string, name string, prefix *regexp.Regexp) (string, error) {
	if slices.Contains(columns, name) {
		return name, nil
	}
	found := ""
	for _, c := range columns {
		if noName.ReplaceAllString(c, "_") != name && noName.ReplaceAllString(prefix.ReplaceAllString(c, ""), "_") != name {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("%s may be %s or %s; give one of them another name", name, found, c)
		}
		found = c
	}
	return found, nil
}

// parseCell reads a value as tables have it: whole numbers as 3.0, and truth values in capitals.
func parseCell(p spaces.Param, text string) (spaces.Value, error) {
	if p.Kind == spaces.KindBool {
		text = strings.ToLower(text)
	}
	v, err := p.Parse(text)
	if x, no := strconv.ParseFloat(text, 64); err != nil && no == nil {
		if whole, no := p.Normalize(spaces.Float(x)); no == nil {
			return whole, nil
		}
	}
	return v, err
}

// readTable reads a CSV file. Its first line names the columns.
func (c *Config) readTable(text []byte) (*sheet, error) {
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
	s, name := &sheet{columns: head, table: true}, c.Objective().Name
	if s.objective, err = findColumn(head, name, metricColumn); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	other := func(names ...string) string { // the first that is a column, and no parameter
		for _, name := range names {
			if slices.Contains(head, name) && !slices.ContainsFunc(c.Params, func(p spaces.Param) bool { return p.Name == name }) {
				return name
			}
		}
		return ""
	}
	if s.objective = cmp.Or(s.objective, other("value", "objective")); s.objective == "" { // Optuna, Orion
		return nil, fmt.Errorf("line 1: there is no column %s, the objective's, among %s", name, strings.Join(head, ", "))
	}
	standing := other("status", "state", "State")
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
		row.value = row.cells[s.objective]
		switch word := strings.ToLower(row.cells[standing]); word {
		case "pruned", "stopped", "running", "waiting", "pending", "unfinished", "excluded", "out of range", "interrupted", "new", "reserved", "killed":
			row.left = word
		case "fail", "failed", "broken", "crashed", "error":
			row.value = ""
		}
		s.rows = append(s.rows, row)
	}
}
