package report

import (
	_ "embed" // for the templates
	"fmt"
	"io"
	"math"
	"strings"
	"text/template"
)

// textTemplates hold the report in Markdown, and the study's figures in the text format of
// Prometheus.
//
//go:embed text.tmpl
var textTemplates string

var texts = template.Must(template.New("texts").Funcs(template.FuncMap{
	"md": func(s string, most int) string {
		return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`).Replace(clean(s, most))
	},
	"percent": Interval.percent,
}).Parse(textTemplates))

// Markdown writes the page's text.
func (s *Study) Markdown(w io.Writer) error {
	return texts.ExecuteTemplate(w, "markdown", map[string]any{"Study": s, "Tiles": s.tiles(), "Words": strings.Join(s.words(), " ")})
}

// Percents are an interval's value and ends as people read them.
func (v Interval) Percents() (value, ends string) {
	whole := func(share float64) float64 { return math.Round(100*share) + 0 } // never -0
	return fmt.Sprintf("%.0f %%", whole(v.Value)), fmt.Sprintf("%.0f to %.0f", whole(v.Low), whole(v.High))
}

func (v Interval) percent() string {
	value, ends := v.Percents()
	return value + " (" + ends + ")"
}
