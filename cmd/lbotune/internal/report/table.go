package report

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"
)

// table is one of the page, of which each row is a line: what changes is sent by lines.
type table struct {
	head []string
	rows []string
}

func (t *table) add(id string, cells ...string) {
	if id != "" {
		id = ` id="` + id + `"`
	}
	t.rows = append(t.rows, "<tr"+id+">"+strings.Join(cells, "")+"</tr>\n")
}

func (t *table) String() string {
	head := ""
	for _, name := range t.head {
		head += "<th>" + html.EscapeString(clean(name, 40)) + "</th>"
	}
	return `<div class="scroll"><table><thead><tr>` + head + "</tr></thead><tbody>\n" + strings.Join(t.rows, "") + "</tbody></table></div>"
}

func plain(text string) string { return "<td>" + html.EscapeString(text) + "</td>" }

func link(to, text string) string {
	return `<td><a href="#` + to + `">` + html.EscapeString(text) + "</a></td>"
}

// short is a number as people compare it, or a text that is not too long; who points there is shown
// the whole of it.
func short(text string) string {
	less := clean(text, 24)
	if x, err := strconv.ParseFloat(text, 64); err == nil && len(text) > 7 {
		less = Short(x)
	}
	if less == text {
		return plain(text)
	}
	return `<td title="` + html.EscapeString(clean(text, 400)) + `">` + html.EscapeString(less) + "</td>"
}

func number(x *float64) string {
	if x == nil {
		return plain("-")
	}
	return short(strconv.FormatFloat(*x, 'g', -1, 64))
}

// mostListed is how many trials a table has.
const mostListed = 500

// tableOf is one of trials, with some columns of its own before the parameters.
func (s *Study) tableOf(trials []*Trial, head []string, prefix string, cells func(*Trial) []string) string {
	out, drawn := table{head: head}, s.drawnParams()
	for _, i := range drawn {
		out.head = append(out.head, s.Params[i].Name)
	}
	for _, t := range trials[:min(len(trials), mostListed)] {
		row := append([]string{link(s.Anchor(t.Number), strconv.Itoa(t.Number))}, cells(t)...)
		for _, i := range drawn {
			text := "-"
			if v, ok := t.Values.Get(s.Params[i].Name); ok {
				text = v.Text()
			}
			row = append(row, short(text))
		}
		id := ""
		if prefix != "" {
			id = prefix + s.Anchor(t.Number)
		}
		out.add(id, row...)
	}
	if len(out.rows) == 0 {
		return ""
	}
	return out.String()
}

// list is the table of trials: those with a value first, the best on top.
func (s *Study) list() string {
	list := slices.Clone(s.shown)
	none := map[bool]int{true: 1}
	slices.SortFunc(list, func(a, b *Trial) int {
		if order := none[a.Value == nil] - none[b.Value == nil]; order != 0 || a.Value == nil {
			return cmp.Or(order, a.Number-b.Number)
		}
		return s.compare(a, b)
	})
	var order strings.Builder // of all that are drawn, for who wants to see the best alone
	for _, t := range s.ranked {
		if s.draws(t.Number) {
			fmt.Fprintln(&order, t.Number)
		}
	}
	text := s.tableOf(list, []string{"trial", s.Metric, "status", "took", "origin"}, "r", func(t *Trial) []string {
		return []string{number(t.Value), plain(t.Standing), fmt.Sprintf(`<td title="%.3f s">%s</td>`, t.Took.Seconds(), Took(t.Took)), plain(string(t.Origin))}
	})
	if text == "" {
		return ""
	}
	return text + `<data class="order" value="` + order.String() + `"></data>`
}

// now is the table of the trials that run.
func (s *Study) now() string {
	var run []*Trial
	for _, n := range s.figures.Unfinished {
		if t := s.Trials[n-1]; s.Running && len(t.Attempts) > 0 {
			run = append(run, t)
		}
	}
	return s.tableOf(run, []string{"trial", "for", "slot", "step", s.Metric}, "", func(t *Trial) []string {
		a, since := t.Attempts[len(t.Attempts)-1], plain("waits")
		if !a.Started.IsZero() {
			since = fmt.Sprintf(`<td><time datetime="%s">since %s</time></td>`, a.Started.UTC().Format(time.RFC3339), a.Started.Local().Format(time.TimeOnly))
		}
		var step, value *float64
		if k := len(t.Course); k > 0 {
			step = &t.Course[k-1].Step
			if v, ok := t.Course[k-1].Metrics.Get(s.Metric); ok {
				value = &v
			}
		}
		return []string{since, plain(strconv.Itoa(a.Slot)), number(step), number(value)}
	})
}
