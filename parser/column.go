package parser

// column is where a metric may stand in tables.
type column struct {
	sought *soughtName
	name   []byte  // at the column's head
	label  string  // of the rows that count, empty for all
	named  bool    // the name stands on the line, but before no number
	next   *header // that the line before may have been
	table  *header // of the table that was begun last
	place  int     // of the column in table
}

// columnsOf lists what a name may mean: a column, or "macro avg f1-score" the column
// f1-score of the row "macro avg".
func columnsOf(n *soughtName) []*column {
	all := []*column{{sought: n, name: n.text}}
	for i, c := range n.text {
		if c == ' ' {
			all = append(all, &column{sought: n, name: n.text[i+1:], label: string(n.text[:i])})
		}
	}
	return all
}

// advance takes the next line, and gives it as a row of the column's table if it is
// one. A header is a header once a row has followed it.
func (c *column) advance(m *nameMatcher) (r *row) {
	text, over := m.heads.text, false
	if c.table != nil {
		if r, over = c.table.take(text, m.lines); over {
			c.table = nil
		}
	}
	if c.next != nil && !isRule(text) {
		if first, _ := c.next.take(text, m.lines); first != nil {
			c.table, c.place, r = c.next, c.next.index(string(c.name)), first
		}
		c.next = nil
	}
	if c.named {
		c.named = false
		if c.next = m.heads.naming(c.name); c.next != nil {
			return nil
		}
	}
	return r
}

// read appends what the row has in the column.
func (c *column) read(r *row, l line, found []occurrence) []occurrence {
	cell := r.cells[c.place]
	number := scanNumber([]byte(cell.text), numberMode{cut: l.cut})
	if number.kind == notNumeric || c.label != "" && !r.labelled(c.label) {
		return found
	}
	o := occurrence{kind: number.kind, value: number.value, at: cell.at, end: cell.at + number.size}
	if c.label == "" {
		o.qualifier = r.qualifier()
	}
	for _, t := range c.sought.targets {
		o.metric = t.metric
		o.step, o.hasStep = c.table.step(t.step, r)
		found = append(found, o)
	}
	return found
}

// step reads the step of a row from the column with its name.
func (h *header) step(name string, r *row) (step float64, known bool) {
	i := h.index(name)
	if name == "" || i < 0 {
		return 0, false
	}
	n := scanNumber([]byte(r.cells[i].text), numberMode{ratio: true})
	return n.value, n.kind == finite
}
