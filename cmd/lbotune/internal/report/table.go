package report

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"
)

type table struct {
	head []string
	rows []row
}

type row struct {
	id, to string
	cells  []datum
}

// datum is what a table has in one place; the whole of it is shown to who points there.
type datum struct {
	text, whole string
	since       time.Time // for how long something goes on
}

func data(of ...string) (out []datum) {
	for _, text := range of {
		out = append(out, datum{text: text})
	}
	return out
}

// valueCell is that of a value: a number as people compare it, or not too long a text.
func valueCell(text string) datum {
	short := clean(text, 24)
	if x, err := strconv.ParseFloat(text, 64); err == nil && len(text) > 7 {
		short = Short(x)
	}
	if short == text {
		text = ""
	}
	return datum{text: short, whole: clean(text, 400)}
}

func (t table) String() string {
	var b strings.Builder
	b.WriteString(`<div class="scroll"><table><thead><tr>`)
	for _, name := range t.head {
		fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(clean(name, 40)))
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, r := range t.rows {
		b.WriteString("<tr")
		if r.id != "" {
			fmt.Fprintf(&b, ` id="%s"`, r.id)
		}
		b.WriteByte('>')
		for i, c := range r.cells {
			b.WriteString("<td")
			if c.whole != "" {
				b.WriteString(` title="` + html.EscapeString(c.whole) + `"`)
			}
			b.WriteByte('>')
			switch text := html.EscapeString(c.text); {
			case i == 0 && r.to != "":
				fmt.Fprintf(&b, `<a href="#%s">%s</a>`, r.to, text)
			case !c.since.IsZero():
				fmt.Fprintf(&b, `<time datetime="%s">since %s</time>`, c.since.UTC().Format(time.RFC3339), c.since.Local().Format(time.TimeOnly))
			default:
				b.WriteString(text)
			}
			b.WriteString("</td>")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>")
	return b.String()
}

// mostListed is how many trials the table has.
const mostListed = 500

// list is the table of trials: those with a value first, the best on top.
func (s *Study) list() string {
	if len(s.Trials) == 0 {
		return ""
	}
	out := table{head: []string{"trial", s.Metric, "status", "took", "origin"}}
	drawn := s.drawnParams()
	for _, i := range drawn {
		out.head = append(out.head, s.Params[i].Name)
	}
	list := slices.Clone(s.shown)
	slices.SortFunc(list, func(a, b *Trial) int {
		switch none := a.Value == nil; {
		case none && b.Value == nil:
			return a.Number - b.Number
		case none:
			return 1
		case b.Value == nil:
			return -1
		}
		return s.compare(a, b)
	})
	for _, t := range list[:min(len(list), mostListed)] {
		value := datum{text: "-"}
		if t.Value != nil {
			value = valueCell(strconv.FormatFloat(*t.Value, 'g', -1, 64))
		}
		r := row{id: "r" + s.Anchor(t.Number), to: s.Anchor(t.Number), cells: append(data(strconv.Itoa(t.Number)), value)}
		took := datum{text: Took(t.Took), whole: fmt.Sprintf("%.3f s", t.Took.Seconds())}
		r.cells = append(append(r.cells, datum{text: t.Standing}, took, datum{text: string(t.Origin)}), s.valueCells(t, drawn)...)
		out.rows = append(out.rows, r)
	}
	var order strings.Builder // of all that are drawn, for who wants to see the best alone
	for _, t := range s.ranked {
		if s.draws(t.Number) {
			fmt.Fprintln(&order, t.Number)
		}
	}
	return out.String() + `<data class="order" value="` + order.String() + `"></data>`
}

func (s *Study) valueCells(t *Trial, params []int) (out []datum) {
	for _, i := range params {
		text := "-"
		if v, ok := t.Values.Get(s.Params[i].Name); ok {
			text = v.Text()
		}
		out = append(out, valueCell(text))
	}
	return out
}

// now is the table of the trials that run.
func (s *Study) now() string {
	if !s.Running {
		return ""
	}
	drawn := s.drawnParams()
	out := table{head: []string{"trial", "for", "slot", "step", s.Metric}}
	for _, i := range drawn {
		out.head = append(out.head, s.Params[i].Name)
	}
	for _, n := range s.figures.Unfinished {
		t := s.Trials[n-1]
		if len(t.Attempts) == 0 || len(out.rows) == mostListed {
			continue
		}
		a, reading := t.Attempts[len(t.Attempts)-1], data("-", "-")
		if k := len(t.Course); k > 0 {
			reading = []datum{valueCell(strconv.FormatFloat(t.Course[k-1].Step, 'g', -1, 64)), {text: "-"}}
			if v, ok := t.Course[k-1].Metrics.Get(s.Metric); ok {
				reading[1] = valueCell(strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
		since := datum{text: "waits"}
		if !a.Started.IsZero() {
			since = datum{since: a.Started}
		}
		r := row{to: s.Anchor(n), cells: append(data(strconv.Itoa(n)), since, datum{text: strconv.Itoa(a.Slot)})}
		r.cells = append(append(r.cells, reading...), s.valueCells(t, drawn)...)
		out.rows = append(out.rows, r)
	}
	if len(out.rows) == 0 {
		return ""
	}
	return out.String()
}
