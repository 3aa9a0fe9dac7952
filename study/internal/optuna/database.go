package optuna

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/pattern"
)

// IsDatabase reports whether a file's text is an SQLite database, in which Optuna's RDBStorage
// keeps studies.
func IsDatabase(text []byte) bool { return bytes.HasPrefix(text, []byte(magic)) }

// The names that Optuna's tables have for states and directions.
var (
	stateNames     = []string{"RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"}
	directionNames = []string{"NOT_SET", "MINIMIZE", "MAXIMIZE"}
)

// ReadDatabase returns the studies of a database, in the schema of Optuna 3 and 4.
func ReadDatabase(text []byte) ([]*Study, error) {
	db, err := openDatabase(text)
	if err != nil {
		return nil, err
	}
	var all []*Study
	studies, trials, owners := map[int64]*Study{}, map[int64]*Trial{}, map[int64]*Study{}
	numbers := map[*Trial]int64{}
	for _, name := range []string{"studies", "study_directions", "study_system_attributes", "trials", "trial_params", "trial_values", "trial_user_attributes"} {
		err := db.read(name, func(r row) error {
			study, id := r.int("study_id"), r.int("trial_id")
			s, t, owner := studies[study], trials[id], owners[id]
			switch {
			case name == "studies":
				s = &Study{Name: r.text("study_name")}
				all, studies[study] = append(all, s), s
			case name == "study_directions" && s != nil: // in the order of the objectives
				s.Directions = append(s.Directions, slices.Index(directionNames, r.text("direction")))
			case name == "study_system_attributes" && s != nil && r.text("key") == metricNames:
				return unmarshal([]byte(r.text("value_json")), &s.Metrics)
			case name == "trials":
				t = &Trial{User: map[string]any{}, State: State(slices.Index(stateNames, r.text("state")))}
				if s == nil || t.State < 0 {
					return fmt.Errorf("trial %d has study %d and state %q", r.int("number"), study, r.text("state"))
				}
				trials[id], owners[id], numbers[t] = t, s, r.int("number")
				s.Trials = append(s.Trials, t)
			case t == nil: // of a study that was deleted
			case name == "trial_params":
				return t.set(owner, r.text("param_name"), r.text("distribution_json"), r.float("param_value"))
			case name == "trial_values":
				value, at := r.float("value"), r.int("objective")
				if at < 0 || at >= int64(len(owner.Directions)) {
					return nil
				}
				switch r.text("value_type") {
				case "INF_POS":
					value = math.Inf(1)
				case "INF_NEG":
					value = math.Inf(-1)
				}
				for int64(len(t.Values)) <= at {
					t.Values = append(t.Values, journal.Float(math.NaN()))
				}
				t.Values[at] = journal.Float(value)
			case name == "trial_user_attributes":
				var v any
				if json.Unmarshal([]byte(r.text("value_json")), &v) == nil {
					t.User[r.text("key")] = v
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
	}
	for _, s := range all {
		slices.SortStableFunc(s.Trials, func(a, b *Trial) int { return cmp.Compare(numbers[a], numbers[b]) })
	}
	return all, nil
}

// What follows reads the tables of an SQLite database as its file format is documented
// (https://www.sqlite.org/fileformat2.html). The engine itself, in Go, is half as large as
// this program.

const (
	magic     = "SQLite format 3\x00"
	utf8Text  = 1  // the encoding of texts
	deepest   = 20 // levels of a table
	leafPage  = 13
	innerPage = 5
)

var errDamaged = errors.New("the database is damaged")

// database is the file: pages of the same size, the first of which begins with a header.
type database struct {
	text   []byte
	size   int // of a page
	usable int // part of it
	tables map[string]table
}

type table struct {
	root    int64
	columns []string
}

// row is one of a table, by columns: int64, float64, string, or nothing for NULL.
type row map[string]any

func (r row) text(column string) string { s, _ := r[column].(string); return s }

func (r row) int(column string) int64 { n, _ := r[column].(int64); return n }

func (r row) float(column string) float64 {
	switch v := r[column].(type) {
	case float64:
		return v
	case int64: // as which whole numbers are stored
		return float64(v)
	}
	return math.NaN()
}

func openDatabase(text []byte) (*database, error) {
	if len(text) < 100 || !IsDatabase(text) {
		return nil, errDamaged
	}
	d := &database{text: text, size: int(binary.BigEndian.Uint16(text[16:])), tables: map[string]table{}}
	if d.size == 1 {
		d.size = 1 << 16
	}
	d.usable = d.size - int(text[20])
	if d.size < 512 || d.usable < 480 {
		return nil, errDamaged
	}
	if code := binary.BigEndian.Uint32(text[56:]); code != utf8Text {
		return nil, fmt.Errorf("the database has its texts in UTF-16 (encoding %d); want UTF-8", code)
	}
	d.tables["schema"] = table{1, []string{"type", "name", "tbl_name", "rootpage", "sql"}}
	return d, d.read("schema", func(r row) error {
		if r.text("type") == "table" {
			d.tables[r.text("name")] = table{r.int("rootpage"), columnsOf(r.text("sql"))}
		}
		return nil
	})
}

// definitionRE matches what a CREATE TABLE has between commas that stand in no parentheses;
// those that begin with a word of constraints define no column.
var (
	definitionRE = pattern.Lazy(`(?:[^,()]|\([^()]*(?:\([^()]*\)[^()]*)*\))+`)
	constraintRE = pattern.Lazy(`^(?i:PRIMARY|FOREIGN|UNIQUE|CHECK|CONSTRAINT)$`)
)

func columnsOf(sql string) (names []string) {
	_, body, _ := strings.Cut(sql, "(")
	body, _ = strings.CutSuffix(strings.TrimSpace(body), ")")
	for _, definition := range definitionRE().FindAllString(body, -1) {
		if words := strings.Fields(definition); len(words) > 0 && !constraintRE().MatchString(words[0]) {
			names = append(names, strings.Trim(words[0], "\"`[]"))
		}
	}
	return names
}

// read calls visit for each row of a table; there is none of a table that is missing.
func (d *database) read(name string, visit func(row) error) error {
	t, ok := d.tables[name]
	if !ok {
		return nil
	}
	left := len(d.text)/d.size + 1 // pages, of which none comes twice
	return d.walk(t.root, deepest, &left, func(id int64, payload []byte) error {
		values, err := valuesOf(payload)
		if err != nil {
			return err
		}
		r := row{}
		for i, column := range t.columns[:min(len(values), len(t.columns))] {
			if r[column] = values[i]; values[i] == nil && i == 0 {
				r[column] = id // an integer primary key is not stored again
			}
		}
		return visit(r)
	})
}

func (d *database) page(n int64) ([]byte, error) {
	if n < 1 || n > int64(len(d.text)/d.size) {
		return nil, errDamaged
	}
	return d.text[(n-1)*int64(d.size):][:d.size], nil
}

func (d *database) walk(n int64, levels int, left *int, visit func(id int64, payload []byte) error) error {
	page, err := d.page(n)
	if *left--; err != nil || levels == 0 || *left < 0 {
		return errDamaged
	}
	head := page
	if n == 1 {
		head = page[100:]
	}
	kind, cells, begin := head[0], int(binary.BigEndian.Uint16(head[3:])), 8
	if kind == innerPage {
		begin = 12
	}
	if kind != leafPage && kind != innerPage || begin+2*cells > len(head) {
		return errDamaged
	}
	for i := range cells {
		at := int(binary.BigEndian.Uint16(head[begin+2*i:]))
		if at+4 > len(page) {
			return errDamaged
		}
		cell := page[at:]
		if kind == innerPage {
			err = d.walk(int64(binary.BigEndian.Uint32(cell)), levels-1, left, visit)
		} else {
			length, m := varint(cell)
			id, k := varint(cell[m:])
			var payload []byte
			if payload, err = d.payload(cell[m+k:], length); err == nil {
				err = visit(id, payload)
			}
		}
		if err != nil {
			return err
		}
	}
	if kind == innerPage {
		return d.walk(int64(binary.BigEndian.Uint32(head[8:])), levels-1, left, visit)
	}
	return nil
}

// payload is what a cell of a leaf holds, whose end may be in a chain of further pages.
func (d *database) payload(cell []byte, length int64) ([]byte, error) {
	most, least := d.usable-35, (d.usable-12)*32/255-23
	here := int(min(length, int64(most)))
	if length > int64(most) {
		if here = least + int((length-int64(least))%int64(d.usable-4)); here > most {
			here = least
		}
	}
	if length < 0 || length > int64(len(d.text)) || here > len(cell) {
		return nil, errDamaged
	}
	out := append([]byte(nil), cell[:here]...)
	for rest := cell[here:]; int64(len(out)) < length; {
		if len(rest) < 4 {
			return nil, errDamaged
		}
		page, err := d.page(int64(binary.BigEndian.Uint32(rest)))
		if err != nil {
			return nil, err
		}
		out = append(out, page[4:4+min(int64(d.usable-4), length-int64(len(out)))]...)
		rest = page
	}
	return out, nil
}

// valuesOf decodes a row: the types of its values, and then these.
func valuesOf(payload []byte) (values []any, err error) {
	length, n := varint(payload)
	if length < int64(n) || length > int64(len(payload)) {
		return nil, errDamaged
	}
	types, body := payload[n:length], payload[length:]
	for len(types) > 0 {
		kind, n := varint(types)
		types = types[n:]
		size := (kind - 12) / 2
		if kind < 12 {
			size = []int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}[max(kind, 0)]
		}
		if kind < 0 || size > int64(len(body)) {
			return nil, errDamaged
		}
		data := body[:size]
		body = body[size:]
		switch {
		case kind == 0:
			values = append(values, nil)
		case kind <= 6:
			var wide [8]byte
			if data[0] >= 0x80 { // of the two's complement
				wide = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
			}
			copy(wide[8-size:], data)
			values = append(values, int64(binary.BigEndian.Uint64(wide[:])))
		case kind == 7:
			values = append(values, math.Float64frombits(binary.BigEndian.Uint64(data)))
		case kind < 12:
			values = append(values, kind-8)
		default: // a text, or a blob, of which Optuna has none
			values = append(values, string(data))
		}
	}
	return values, nil
}

// varint decodes a number of up to nine bytes, seven bits in each but the ninth, and
// returns its length. What is cut off counts as 0.
func varint(b []byte) (v int64, n int) {
	for n < min(8, len(b)) {
		v = v<<7 | int64(b[n]&0x7f)
		if n++; b[n-1] < 0x80 {
			return v, n
		}
	}
	if n == 8 && len(b) > 8 {
		return v<<8 | int64(b[8]), 9
	}
	return v, n
}
