package parser

import (
	"math"
	"slices"
	"strings"
)

// What is longer, or has more columns, is no line of a table.
const (
	maxRow     = 16 << 10
	maxColumns = 512
)

// header is a line that names the columns of a table. It counts as one when the
// next line that is not blank fits it as a row.
type header struct {
	layout  layout
	columns []cell
	line    int     // the line that was looked at last, counted by the matcher
	row     *row    // that line, nil if it does not fit
	first   float64 // the first cell of the last row; nan if it was no number
	doubt   bool    // the last row was followed by what may be another header
	over    bool    // it was one
}

// row is a line under a header.
type row struct {
	label string // what names the row
	cells []cell // one for each column; what is missing is empty
}

// headers are the ways to read one line as the names of columns.
type headers struct {
	text []byte
	read bool
	all  []*header
}

// naming gives the way that has a column with a name, or nil.
func (hs *headers) naming(name []byte) *header {
	if !hs.read && len(hs.text) <= maxRow {
		for _, y := range [...]layout{bars, semicolons, tabs, commas, wide, narrow} {
			h := &header{layout: y, columns: y.split(hs.text)}
			if size := len(h.columns); 1 < size && size <= maxColumns && h.plausible() {
				hs.all = append(hs.all, h)
			}
		}
	}
	hs.read = true
	for _, h := range hs.all {
		if h.index(string(name)) >= 0 {
			return h
		}
	}
	return nil
}

func (h *header) plausible() bool {
	const longest = 60
	h.cutBar()
	for i := range h.columns {
		c := &h.columns[i]
		if !strings.Contains(c.text, "(") {
			c.text = strings.TrimSuffix(c.text, ")") // of a bracket that opens in another column
		}
		switch {
		case len(c.text) > longest, isNumber(c.text), isPair(c.text):
			return false
		case c.text == "" && i > 0: // the first column may be the rows' labels
			return false
		case h.layout == narrow && c.text != strings.TrimRight(c.text, ".,:;!?"): // prose
			return false
		}
	}
	return true
}

// cutBar cuts off a progress bar, which may stand behind the last name and a colon.
func (h *header) cutBar() {
	for i := range h.columns {
		c := &h.columns[i]
		if before, _, found := strings.Cut(c.text+" ", ": "); found && h.layout == wide && i > 1 {
			c.text, h.columns = before, h.columns[:i+1]
			return
		}
	}
}

// index gives the place of the only column with a name, or -1.
func (h *header) index(name string) int {
	found := -1
	for i, c := range h.columns {
		if c.text != name {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// take reads a line as a row, once for all columns that are sought, or finds that the
// table is over. Words in as many columns may be the header of another table, or may be
// prose: the table goes on if its first column does, which holds epochs or steps.
func (h *header) take(text []byte, line int) (r *row, over bool) {
	if h.line == line {
		return h.row, h.over
	}
	h.line, h.row = line, nil
	if len(text) > maxRow || isRule(text) {
		return nil, h.over
	}
	r = h.read(text)
	if r == nil {
		h.doubt = h.doubt || h.namedBy(text)
		return nil, h.over
	}
	first := r.first()
	h.over = h.over || h.doubt && !(first >= h.first)
	h.doubt, h.first = false, first
	if !h.over {
		h.row = r
	}
	return h.row, h.over
}

// first is the number in the first cell, nan for none.
func (r *row) first() float64 {
	n := scanNumber([]byte(r.cells[0].text), numberMode{ratio: true})
	if n.kind != finite {
		return math.NaN()
	}
	return n.value
}

// namedBy reports whether text may hold names of columns too.
func (h *header) namedBy(text []byte) bool {
	const several = 3
	other := &header{layout: h.layout, columns: h.layout.split(text)}
	if len(other.columns) > maxColumns || !other.plausible() {
		return false
	}
	size := len(other.columns)
	return (size == len(h.columns) || h.layout == wide && size >= several) &&
		!slices.ContainsFunc(other.columns, func(c cell) bool { return isNumeric(c.text) || isMissing(c.text) && c.text != "" })
}

func (h *header) read(text []byte) *row {
	r := &row{cells: h.layout.split(text)}
	if h.layout == wide && len(r.cells) != len(h.columns) {
		r.cells = narrow.split(text) // numbers may be so long that one blank is left between them
	}
	if size := len(h.columns); len(r.cells) != size && (h.layout != wide || len(r.cells) > 4*size || !r.align(h.columns)) {
		return nil
	}
	r.findLabel()
	numbers, words := 0, 0
	for i, c := range r.cells {
		switch {
		case isNumeric(c.text):
			numbers++
		case !isMissing(c.text) && i > 0:
			words++
		}
	}
	if numbers == 0 || words > 0 && h.layout == narrow || words > numbers && h.layout == wide {
		return nil
	}
	return r
}

// align puts the row's cells under the columns above them. What stands before the
// first column is the label, what stands behind the last one is none of the row's.
func (r *row) align(columns []cell) bool {
	aligned := make([]cell, len(columns))
	var label []string
	for _, c := range r.cells {
		under := -1
		for i, column := range columns {
			if c.left < column.right && column.left < c.right {
				if under >= 0 || aligned[i].text != "" {
					return false
				}
				under = i
			}
		}
		switch {
		case under >= 0:
			aligned[under] = c
		case c.right <= columns[0].left:
			label = append(label, c.text)
		case c.left < columns[len(columns)-1].right:
			return false
		}
	}
	r.cells, r.label = aligned, strings.Join(label, " ")
	return true
}

// findLabel takes a word that begins the row, or one such as train in any column.
func (r *row) findLabel() {
	if r.label != "" {
		return
	}
	for i, c := range r.cells {
		if qualifierNamed([]byte(c.text)) != unqualified || i == 0 && !isMissing(c.text) && !isNumeric(c.text) {
			r.label = c.text
			return
		}
	}
}

// numbered is the qualifier of all rows that have only a number before their first
// column: steps, or classes beside which there are rows with names.
const numbered = qualifier("numbered")

func (r *row) qualifier() qualifier {
	if isNumeric(r.label) {
		return numbered
	}
	if word := qualifierNamed([]byte(r.label)); word != unqualified {
		return word
	}
	return qualifier(clip([]byte(r.label)))
}

// labelled reports whether the row has a label, or another word for it.
func (r *row) labelled(label string) bool {
	word := qualifierNamed([]byte(label))
	return r.label == label || word != unqualified && word == r.qualifier()
}
