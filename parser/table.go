package parser

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/pattern"
)

// What is longer, or has more columns, is no line of a table.
const (
	maxRow     = 16 << 10
	maxColumns = 512
)

// What may stand between the cells of a table's line.
var (
	bars       = pattern.Lazy(`[|│┃]`)
	semicolons = pattern.Lazy(`;`)
	tabs       = pattern.Lazy(`\t`)
	commas     = pattern.Lazy(`,`)
	wide       = pattern.Lazy(`\t[\x00- \x7f]*|[\x00- \x7f]{2,}`) // two blanks or more
	narrow     = pattern.Lazy(`[\x00- \x7f]+`)
)

// cell is a part of a line.
type cell struct {
	at          int // the first byte
	left, right int // columns of the terminal
	text        string
}

// split cuts a line into its cells.
func split(text []byte, layout *regexp.Regexp) []cell {
	start := 0
	if layout == wide() || layout == narrow() {
		text = trimBlanks(text)
		start = skipBlanks(text, 0)
	}
	var ends [][2]int
	for _, sign := range layout.FindAllIndex(text, -1) {
		quoted := layout == commas() && bytes.Count(text[start:max(sign[0], start)], []byte{'"'})%2 == 1
		if sign[0] >= start && !quoted {
			ends = append(ends, [2]int{start, sign[0]})
			start = sign[1]
		}
	}
	ends = append(ends, [2]int{start, len(text)})
	if last := len(ends) - 1; layout == bars() && last > 1 { // the outermost bars are the frame
		if skipBlanks(text, 0) == ends[0][1] && skipBlanks(text, ends[last][0]) == len(text) {
			ends = ends[1:last]
		}
	}
	cells := make([]cell, len(ends))
	column, counted := 0, 0
	for i, e := range ends {
		from := skipBlanks(text[:e[1]], e[0])
		whole := trimBlanks(text[from:e[1]])
		if i == 0 && (layout == semicolons() || layout == tabs() || layout == commas()) {
			if prefix := bytes.LastIndex(whole, []byte(": ")); prefix >= 0 { // of a logger
				whole = whole[prefix+2:]
				from += prefix + 2
			}
		}
		column += utf8.RuneCount(text[counted:from])
		counted = from
		c := cell{at: from, left: column, right: column + utf8.RuneCount(whole), text: string(whole)}
		if size := len(whole); size >= 2 && whole[0] == '"' && whole[size-1] == '"' {
			c.text = string(whole[1 : size-1])
			c.at++
		}
		cells[i] = c
	}
	return cells
}

// isRule tells the lines that are drawn between the rows of a table.
func isRule(text []byte) bool {
	return strings.Trim(string(text), "-=+|:_~. \t─━┄┈│┃┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋┠┨┡┩╇╪╒╕╘╛╞╡╤╧═║╔╗╚╝╠╣╦╩╬╭╮╰╯") == ""
}

// isNumber tells cells that hold one number and nothing else.
func isNumber(text string) bool {
	_, k := wholeNumber([]byte(text))
	return k != unreadable
}

// isPair tells cells that hold a name with its number: "loss: 0.3".
func isPair(text string) bool {
	i := strings.LastIndexAny(text, ":=")
	return i >= 0 && isNumeric(strings.TrimSpace(text[i+1:]))
}

// isNumeric tells cells that begin like a number: "12", "00:12", "2.61G", "nan".
func isNumeric(text string) bool {
	return startsNumber([]byte(text)) || isNonFinite([]byte(text))
}

// failures are the words by which programs say that there will be no value.
var failures = []string{"diverged", "failed", "error", "undefined", "invalid", "overflow"}

// scanInstead reads what stands where a number should be, and begins with word: one that says
// that there is none, or "<0.001", "~2", "$5" or "- 5", which are none either.
func scanInstead(text []byte, word string, mode numberMode) number {
	if slices.Contains(failures, strings.ToLower(strings.TrimRight(word, ".!"))) {
		return number{size: len(word), kind: missing}
	}
	sign, size := utf8.DecodeRune(text)
	if bytes.HasPrefix(text[size:], []byte("=")) { // "~=", "<="
		size++
	}
	at := skipBlanks(text, size)
	end := at + endOfToken(text[at:], mode)
	condition := sign == '=' && end < len(text) && strings.IndexByte(":)", text[end]) >= 0 // "if loss == 0:"
	if condition || !strings.ContainsRune("=<>≤≥~≈$€£¥-+", sign) && !isMinus(sign) || !startsNumber(text[at:]) {
		return number{}
	}
	return number{size: end, kind: unreadable}
}

// header is a line that names the columns of a table. It counts as one when the
// next line that is not blank fits it as a row.
type header struct {
	layout  *regexp.Regexp
	columns []cell
	line    int     // the line that was looked at last, counted by the matcher
	row     *row    // that line, nil if it does not fit
	last    int     // where the last row stands, counted by LF
	first   float64 // the first cell of the last row; nan if it was no number
	doubt   bool    // the last row was followed by what may be another header
	sure    bool    // and by what is one, with the name of a column
	over    bool    // it was one
}

// row is a line under a header.
type row struct {
	label string // what names the row
	cells []cell // one for each column, but for the last ones of a line that lacks them; what is missing is empty
}

// headersOf are the ways to read a line as the names of columns.
func headersOf(text []byte) (all []*header) {
	if len(text) > maxRow {
		return nil
	}
	for _, layout := range []*regexp.Regexp{bars(), semicolons(), tabs(), commas(), wide(), narrow()} {
		h := &header{layout: layout, columns: split(text, layout)}
		if size := len(h.columns); 1 < size && size <= maxColumns && h.tidy() {
			all = append(all, h)
		}
	}
	return all
}

// tidy strips what is no part of the names, may drop columns, and reports whether names are left.
func (h *header) tidy() bool {
	const longest = 60
	for i := 0; i < len(h.columns); i++ {
		c := &h.columns[i]
		if before, _, found := strings.Cut(c.text+" ", ": "); found && h.layout == wide() && i > 1 {
			c.text, h.columns = before, h.columns[:i+1] // a progress bar may stand behind the last name and a colon
		}
		if !strings.Contains(c.text, "(") {
			c.text = strings.TrimSuffix(c.text, ")") // of a bracket that opens in another column
		}
		switch {
		case len(c.text) > longest, isNumber(c.text), isPair(c.text):
			return false
		case c.text == "" && i > 0: // the first column may be the rows' labels
			return false
		case h.layout == narrow() && c.text != strings.TrimRight(c.text, ".,:;!?"): // prose
			return false
		}
	}
	return true
}

// index gives the place of the only column with a name, or -1.
func (h *header) index(name string) int {
	is := func(c cell) bool { return c.text == name }
	i := slices.IndexFunc(h.columns, is)
	if slices.ContainsFunc(h.columns[i+1:], is) {
		return -1
	}
	return i
}

// take reads a line as a row, once for all columns that are sought, or finds that the
// table is over. Words in as many columns may be the header of another table, or may be
// prose: the table goes on if its first column does, which holds epochs or steps, and none of the
// words is a name of the table's.
func (h *header) take(l line, line int) *row {
	text := l.text
	if h.line == line {
		return h.row
	}
	under := h.row != nil && l.number <= h.last+1
	h.line, h.row = line, nil
	if len(text) > maxRow || isRule(text) {
		return nil
	}
	r := h.read(text)
	if r == nil && under && !l.open && !l.cut {
		r = h.readShort(text)
	}
	if r == nil {
		named, shared := h.namedBy(text)
		h.doubt, h.sure = h.doubt || named, h.sure || shared
		return nil
	}
	first := math.NaN()
	if n := r.cells[0].step(); n.kind == finite {
		first = n.value
	}
	h.over = h.over || h.sure || h.doubt && !(first >= h.first) // also where either is no number
	h.doubt, h.first = false, first
	if !h.over {
		h.row, h.last = r, l.number
	}
	return h.row
}

// readShort reads a row, right under another, that lacks its last cells. What does not count on, as a matrix
// under the table, is no row of it, nor is a number alone.
func (h *header) readShort(text []byte) *row {
	r := &row{cells: split(text, h.layout)}
	if bytes.Contains(text[:r.cells[0].at], []byte(": ")) && h.columns[0].at < 2 { // "best epoch: 3"
		return nil
	}
	if size := len(r.cells); h.layout == wide() || h.layout == narrow() || size < 2 || size >= len(h.columns) || r.cells[0].step().value != h.first+1 ||
		slices.ContainsFunc(r.cells, func(c cell) bool { return !isNumber(c.text) }) {
		return nil
	}
	return r
}

// step is the cell's number as one of an epoch or a step.
func (c cell) step() number { return scanNumber([]byte(c.text), numberMode{ratio: true}) }

// namedBy reports whether text may hold names of columns too, and whether one of them is a name in h,
// which in prose a word may be.
func (h *header) namedBy(text []byte) (named, shared bool) {
	const several = 3
	other := &header{layout: h.layout, columns: split(text, h.layout)}
	if len(other.columns) > maxColumns || !other.tidy() {
		return false, false
	}
	size := len(other.columns)
	named = (size == len(h.columns) || h.layout == wide() && size >= several) &&
		!slices.ContainsFunc(other.columns, func(c cell) bool { return isNumeric(c.text) || isMissing(c.text) && c.text != "" })
	return named, named && h.layout != narrow() && slices.ContainsFunc(other.columns, func(c cell) bool { return c.text != "" && h.index(c.text) >= 0 })
}

func (h *header) read(text []byte) *row {
	r := &row{cells: split(text, h.layout)}
	if h.layout == wide() && len(r.cells) != len(h.columns) {
		r.cells = split(text, narrow()) // numbers may be so long that one blank is left between them
	}
	size, names := len(r.cells), len(h.columns)
	aligned := h.layout == wide() && size <= 4*names || h.layout == narrow() && size == names+1 // R puts a number before rows
	if size != names && !(aligned && r.align(h.columns)) {
		return nil
	}
	numbers, words := 0, 0
	named := r.label != ""
	for i, c := range r.cells {
		switch {
		case isNumeric(c.text):
			numbers++
		case !isMissing(c.text) && i > 0 && scanInstead([]byte(c.text), c.text, numberMode{}).kind == notNumeric:
			words++
		}
		// The label is a word that begins the row, or one such as train in any column.
		if !named && (qualifierNamed([]byte(c.text)) != unqualified || i == 0 && !isMissing(c.text) && !isNumeric(c.text)) {
			r.label, named = c.text, true
		}
	}
	if numbers == 0 || words > 0 && h.layout == narrow() || words > numbers && h.layout == wide() {
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

// column is where a metric may stand in tables.
type column struct {
	sought *soughtName
	name   []byte    // at the column's head
	label  string    // of the rows that count, empty for all
	named  bool      // the name stands on the line, but before no number
	next   []*header // that the line before may have been
	table  *header   // of the table that was begun last
}

// advance takes the next line, which has that number and may be one of the heads, and gives it
// as a row of the column's table if it is one. A header is a header once a row has followed it.
func (c *column) advance(l line, line int, heads []*header) (r *row) {
	if c.table != nil {
		if r = c.table.take(l, line); c.table.over {
			c.table = nil
		}
	}
	if len(c.next) > 0 && !isRule(l.text) {
		if i := slices.IndexFunc(c.next, func(h *header) bool { return h.take(l, line) != nil }); i >= 0 {
			c.table, r = c.next[i], c.next[i].row
		}
		c.next = nil
	}
	if c.named {
		c.named = false
		c.next = slices.DeleteFunc(slices.Clone(heads), func(h *header) bool { return h.index(string(c.name)) < 0 })
		if len(c.next) > 0 {
			return nil
		}
	}
	return r
}

// read appends what the row has in the column.
func (c *column) read(r *row, l line, found []occurrence) []occurrence {
	place, at := c.table.index(string(c.name)), 0
	if place >= len(r.cells) && c.label != "" {
		return found
	} else if place >= len(r.cells) {
		return append(found, occurrence{metric: c.sought.metric, kind: missing, at: len(l.text), end: len(l.text)})
	}
	cell := r.cells[place]
	if place > 0 { // in the first, R counts what it prints: "[1] 0.3"
		at = skipBrackets([]byte(cell.text), 0)
	}
	number := scanValue([]byte(cell.text)[at:], numberMode{cut: l.cut})
	word := qualifierNamed([]byte(c.label))
	labelled := r.label == c.label || word != unqualified && word == r.qualifier()
	if number.kind == notNumeric {
		number = scanInstead([]byte(cell.text), cell.text, numberMode{cut: l.cut})
	}
	if number.kind == notNumeric || c.label != "" && !labelled {
		return found
	}
	o := occurrence{metric: c.sought.metric, kind: number.kind, value: number.value, at: cell.at + at, end: cell.at + at + number.size}
	if c.label == "" {
		o.qualifier = r.qualifier()
	}
	if i := c.table.index(c.sought.step); c.sought.step != "" && i >= 0 && i < len(r.cells) {
		step := r.cells[i].step()
		o.step, o.hasStep = step.value, step.kind == finite
	}
	return append(found, o)
}
