package report

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/spaces"
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
	head := lists.Map(t.head, func(name string) string { return told("th", name, clean(name, 40)) })
	return `<div class="scroll"><table><thead><tr>` + strings.Join(head, "") + "</tr></thead><tbody>\n" + strings.Join(t.rows, "") + "</tbody></table></div>"
}

// told is a cell that says less than the whole, which who points there is shown.
func told(kind, whole, less string) string {
	title := ""
	if less != whole {
		title = ` title="` + html.EscapeString(clean(whole, 400)) + `"`
	}
	return "<" + kind + title + ">" + html.EscapeString(less) + "</" + kind + ">"
}

func plain(text string) string { return told("td", text, text) }

func link(to, text string) string {
	return `<td><a href="#` + to + `">` + html.EscapeString(text) + "</a></td>"
}

// value is the cell of a number as people compare it, or a text that is not too long.
func value(v spaces.Value) string {
	text := v.Text()
	less := clean(text, 24)
	if x, number := v.Number(); number && len(text) > 7 {
		less = Short(x)
	}
	return told("td", text, less)
}

func number(x *float64) string {
	if x == nil {
		return plain("-")
	}
	text := strconv.FormatFloat(*x, 'g', -1, 64)
	if len(text) > 7 {
		return told("td", text, Short(*x))
	}
	return plain(text)
}

const mostListed = 500

// tableOf is one of trials, with some columns of its own before the parameters.
func (s *Study) tableOf(trials []*Trial, head []string, prefix string, cells func(*Trial) []string) string {
	out, drawn := table{head: head}, s.drawnParams()
	out.head = append(out.head, lists.Map(drawn, func(i int) string { return s.Params[i].Name })...)
	for _, t := range trials[:min(len(trials), mostListed)] {
		row := append([]string{link(s.Anchor(t.Number), strconv.Itoa(t.Number))}, cells(t)...)
		values := t.Values()
		for _, i := range drawn {
			at := plain("-")
			if v, ok := values.Get(s.Params[i].Name); ok {
				at = value(v)
			}
			row = append(row, at)
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
	list := slices.DeleteFunc(slices.Clone(s.shown), func(t *Trial) bool { return t.Value == nil })
	slices.SortFunc(list, s.compare)
	list = append(list, slices.DeleteFunc(slices.Clone(s.shown), func(t *Trial) bool { return t.Value != nil })...)
	var order strings.Builder // of all that are drawn, for who wants to see the best alone
	for _, t := range s.ranked {
		if t.shown {
			fmt.Fprintln(&order, t.Number)
		}
	}
	text := s.tableOf(list, []string{"trial", s.Metric, "status", "took", "origin"}, "r", func(t *Trial) []string {
		took := plain("-")
		if t.Done() && !t.Hand {
			took = told("td", fmt.Sprintf("%.3f s", t.Took.Seconds()), Took(t.Took))
		}
		return []string{number(t.Value), plain(t.Standing), took, plain(string(t.Origin))}
	})
	if text == "" {
		return ""
	}
	return text + `<data class="order" value="` + order.String() + `"></data>`
}

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
		if course := CourseOf(t.Trial, s.Metric); len(course) > 0 {
			last := course[len(course)-1]
			v, _ := last.Metrics.Get(s.Metric)
			step, value = &last.Step, &v
		}
		return []string{since, plain(strconv.Itoa(a.Slot)), number(step), number(value)}
	})
}
