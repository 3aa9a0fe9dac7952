package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

//go:embed chart.css
var chartCSS string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

//go:embed page.html
var pageHTML string

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"clean": clean, "short": Short, "tidy": tidy, "policy": policy, "took": Took,
		"safe":   func(made string) template.HTML { return template.HTML(made) }, // by another template, or drawn
		"style":  func() template.CSS { return template.CSS(pageCSS + chartCSS) },
		"script": func() template.JS { return template.JS(pageJS) },
	}).Parse(pageHTML))
})

type card struct {
	ID, Title, Note, Body string
	Wide                  bool
	Age                   string // of what trials it is
	At                    time.Time
}

// served is what a page that is served has more.
type served struct {
	On            bool
	Home          string // of the list from which one comes here
	Logs, Control bool
}

// whole is a page. One with a feed keeps itself up to date from there.
type whole struct {
	Title, Feed string
	Of          string // the studies of a page that stays as it is, by their ids
	Compare     []card
	Studies     []body
	Listed      []part // of a folder: the head of its page, and its studies
}

// body is a study as the page has it, of parts that can be replaced.
type body struct {
	*Study
	Parts []part
}

// Large says that the page is drawn as far as it is seen.
func (s *Study) Large() bool { return len(s.shown) > mostListed }

// panel holds the details of a trial.
type panel struct {
	*Trial
	Live           served
	Like           string // its values as JSON
	ID, Title, Tip string
	Exact          string // its value
	Rows           [][2]string
}

// policy is the content security policy of the page: nothing comes from elsewhere, and no
// script runs but its own.
func policy() string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; base-uri 'none'; form-action 'none'; connect-src 'self'; img-src data:; style-src " +
		hash(pageCSS+chartCSS) + "; script-src " + hash(pageJS)
}

// HTML writes the page of one study, or of several beside each other.
func HTML(w io.Writer, studies []*Study) error {
	page := whole{Title: title(studies), Of: ids(studies)}
	if len(studies) > 1 {
		for i, s := range studies {
			s.Key = string(rune('a'+i%26)) + strconv.Itoa(i) + "-"
		}
		page.Compare, _ = comparison(studies)
	}
	page.Studies = lists.Map(studies, func(s *Study) body { return body{s, append(s.drawn(true, true), s.panels()...)} })
	return pages().Execute(w, page)
}

func title(studies []*Study) string {
	names := slices.Compact(lists.Map(studies, func(s *Study) string { return s.Name }))
	return "lbotune: " + clean(strings.Join(names, ", "), 80)
}

func ids(studies []*Study) string {
	return strings.Join(lists.Map(studies, func(s *Study) string { return s.state.ID }), " ")
}

// IsPage reports whether a text is a page that HTML has made of these studies, and no others.
func IsPage(text string, studies []*Study) bool {
	return strings.Contains(text, fmt.Sprintf("<meta name=\"lbotune\" content=%q>", ids(studies)))
}

func render(name string, data any) string {
	var b strings.Builder
	must(pages().ExecuteTemplate(&b, name, data)) // the templates are ours
	return b.String()
}

// must takes errors of what can't fail.
func must(err error) {
	if err != nil {
		panic("report: " + err.Error())
	}
}

// drawn are pieces of the study's page by themselves, in their order: the head and the cards that
// are drawn with each record, and the other cards.
func (s *Study) drawn(often, others bool) (out []part) {
	if often {
		out = append(out, s.head())
	}
	for _, p := range cards {
		if now := p.is&quick != 0; now && often || !now && others {
			out = append(out, part{s.Key + p.name, "cards", render("card", s.card(p))})
		}
	}
	return out
}

func (s *Study) panels() []part {
	return lists.Map(s.shown, func(t *Trial) part {
		if t.drawn == "" || !s.Live.On {
			t.drawn = render("trial", s.panel(t))
		}
		return part{s.Anchor(t.Number), "trials", t.drawn}
	})
}

// head is the part that stands above the cards.
func (s *Study) head() part {
	return part{s.Key + "head", "top", render("head", s)}
}

// card draws one, which is hidden while there is nothing to show.
func (s *Study) card(p plot) card {
	pictures := p.pictures(s)
	c := card{ID: s.Key + p.name, Title: p.title, Note: p.note, Wide: p.is&wide != 0 || len(pictures) > 1, Body: strings.Join(pictures, "")}
	if len(pictures) > 1 {
		c.Body = `<div class="many">` + c.Body + `</div>`
	}
	if m := s.Model; s.Running && s.Live.On && m != nil && p.is&modelled != 0 {
		c.Age, c.At = fmt.Sprintf("model of %d trials", m.values), m.at
	} else if s.Running && s.Live.On && p.is&quick == 0 {
		c.Age, c.At = fmt.Sprintf("%d trials", len(s.Trials)), s.read
	}
	return c
}

// Aim says what the study optimizes.
func (s *Study) Aim() string {
	return strings.Join(lists.Map(s.state.Config.Objectives(), func(o study.Metric) string { return string(o.Direction) + " " + o.Name }), ", ")
}

// Tiles are the figures on top.
func (s *Study) Tiles() [][2]string {
	f, out := s.figures, [][2]string{}
	add := func(shown bool, value, name string) {
		if shown {
			out = append(out, [2]string{value, name})
		}
	}
	several := s.state.Config.Several()
	add(several, strconv.Itoa(len(f.Front)), "trials on the front")
	add(several, Short(f.Hypervolume), "hypervolume")
	over := map[bool]string{false: ", over a limit"}[f.Feasible]
	add(!several && s.Best > 0, f.BestText(), fmt.Sprintf("best %s, trial %d%s", clean(s.Metric, 40), s.Best, over))
	trials := strconv.Itoa(len(s.Trials))
	if s.Budget > 0 {
		trials += " of " + strconv.Itoa(s.Budget)
	}
	add(true, trials, "trials")
	for i, n := range []int{f.Infeasible, f.Failed, f.Pruned, f.Excluded, f.Outside, len(f.Unfinished)} {
		add(n > 0, strconv.Itoa(n), standings[i+1])
	}
	add(true, Took(f.Elapsed), "time")
	add(f.Left > 0, "≈ "+Took(f.Left), "left")
	return out
}

// rounded are values as people read them; exact ones stand in the table and with the command.
func rounded(vs spaces.Values) string {
	return strings.Join(lists.Map(vs, func(a spaces.Assignment) string {
		if x, ok := a.Value.Any().(float64); ok {
			return a.Name + "=" + Short(x)
		}
		return a.Name + "=" + a.Value.Text()
	}), " ")
}

// words say what the pictures show, for those who read.
func (s *Study) words() (out []string) {
	say := func(so bool, format string, args ...any) {
		if so {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	f, others := s.figures, "is better than one of these in one objective and at least as good in all"
	if !f.Feasible {
		others = "breaks the limits less"
	} else if len(s.state.Config.AllLimits()) > 0 {
		others = "that hold the limits " + others
	}
	say(len(f.Front) > 0, "The front has %d of %d trials: none of the others %s.", len(f.Front), len(s.Trials), others)
	say(len(s.Trials) == 0, "There is no trial yet.")
	none := cmp.Or(s.state.NoneCounts(), "no trial has succeeded")
	say(len(s.Trials) > 0 && f.Best == nil, "N%s.", none[1:])
	if s.Best > 0 {
		best, first := s.Trials[s.Best-1], s.Trials[0]
		say(true, "The best %s is %s, of trial %d: %s.", s.Metric, f.BestText(), best.Number, clean(rounded(best.Values()), 600))
		broken := append([]string{"No trial holds every limit"}, f.Broken...)
		say(!f.Feasible, "%s.", clean(strings.Join(broken, "; "), 400))
		say(f.Holds != nil, "Its limits are %s.", f.HoldsText())
		if first.Succeeded() && first != best {
			over := map[bool]string{false: ", and over a limit"}[s.state.Feasible(first.Trial)]
			was := s.besideBest(first)
			say(was != "", "With %s it was %s%s.", beginnings[first.Origin == optimizer.OriginDefault], was, over)
		}
		if g := GainOf(s.state); g != nil {
			say(g.Margin > 0, "T%s.", g.Text()[1:])
		}
	}
	m := s.Model
	if m == nil {
		say(true, "Nothing is said of the model: %s.", s.NoModel)
		return out
	}
	say(m.Told < m.values, "The model knows %d of %d trials, those that represent the space.", m.Told, m.values)
	for k, b := range append([]Beliefs{{Objective: s.Metric, poor: m.Poor}}, m.Others...) {
		of, to := "", ""
		if len(m.Others) > 0 {
			of, to = " of "+b.Objective, " to "+b.Objective
		}
		say(b.poor != "", "What matters%s is not known: %s.", to, b.poor)
		say(b.poor == "" && k == 0, "Cross-validation: values%s that are left out one by one are predicted with a rank "+
			"correlation of %.2f, and %s %% of them lie within their 95 %% interval.", of, m.Rank, Percent(m.Within))
		for _, im := range m.Importances() {
			if im.Objective == b.Objective {
				out = append(out, im.said(to)...)
			}
		}
	}
	if l := f.Bounds; l != nil && m.Poor == "" {
		text := fmt.Sprintf("The Lipschitz bounds rule out %s %% of the space", Percent(l.Excluded))
		if l.Gap != nil {
			text += fmt.Sprintf(" and leave at most %s to gain", Short(*l.Gap))
		}
		if !l.Stated {
			text += "; their constant is an estimate"
		}
		out = append(out, text+".")
	}
	return out
}

// besideBest is the value of a trial to compare with that of the best: beside a mean of repeats another
// one, empty if there is none.
func (s *Study) besideBest(t *Trial) string {
	if s.figures.Runs == 0 {
		return Short(*t.Value)
	}
	for _, c := range s.state.Confirmations() {
		if c.Trial == t.Trial {
			return Around(c.Mean, c.Margin)
		}
	}
	return ""
}

// Anchor names the place of a trial on the page.
func (s *Study) Anchor(trial int) string { return "t" + s.Key + strconv.Itoa(trial) }

func (s *Study) panel(t *Trial) panel {
	p := panel{Trial: t, Live: s.Live, ID: s.Anchor(t.Number), Title: fmt.Sprintf("Trial %d, %s", t.Number, t.Standing)}
	add := func(name, text string) { p.Rows = append(p.Rows, [2]string{clean(name, 200), clean(text, 400)}) }
	tip := []string{p.Title}
	if t.Value != nil {
		p.Exact = strconv.FormatFloat(*t.Value, 'g', -1, 64)
		add(s.Metric, p.Exact)
		tip = append(tip, clean(s.Metric, 30)+" = "+Short(*t.Value))
	}
	if t.Failure != nil {
		add("reason", t.Failure.Text)
		tip = append(tip, clean(t.Failure.Text, 80))
	}
	for _, limit := range s.state.Config.Broken(s.state.Means(t.Trial)) {
		if t.Standing == infeasible {
			add("limit", limit)
		}
	}
	for _, name := range s.Metrics {
		if v, ok := t.Metrics.Get(name); ok && name != s.Metric {
			add(name, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	values := t.Values()
	for i, a := range values {
		add(a.Name, a.Value.Text())
		if i < 8 {
			tip = append(tip, clean(a.Name+" = "+a.Value.Text(), 60))
		}
	}
	add("proposed by", strings.TrimSuffix(string(t.Origin)+": "+t.Why, ": "))
	if t.Expected != nil {
		add("predicted", Short(*t.Expected))
	}
	for _, a := range t.Attempts {
		if !a.Started.IsZero() {
			add(fmt.Sprintf("attempt %d", a.Number), fmt.Sprintf("%s, started %s", strings.TrimSpace(fmt.Sprint("slot ", a.Slot, " ", a.Host)), a.Started.Local().Format(time.DateTime)))
		}
	}
	p.Tip = strings.Join(tip, "\n")
	if s.Live.Control {
		like := map[string]string{}
		for _, a := range values {
			like[a.Name] = cmp.Or(a.Value.Text(), `""`) // an empty field means the default
		}
		text, err := json.Marshal(like)
		must(err) // of strings
		p.Like = string(text)
	}
	return p
}

// tidy is text of several lines, made safe to show.
func tidy(text string) string {
	lines := strings.Split(strings.TrimRightFunc(text, unicode.IsSpace), "\n")
	line := func(l string) string { return clean(strings.ReplaceAll(l, "\t", "    "), 400) }
	return strings.Join(lists.Map(lines[max(len(lines)-12, 0):], line), "\n")
}
