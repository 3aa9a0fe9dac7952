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
	"words":   func(s *Study) string { return strings.Join(s.words(), " ") },
}).Parse(textTemplates))

// Markdown writes the page's text.
func (s *Study) Markdown(w io.Writer) error {
	return texts.ExecuteTemplate(w, "markdown", s)
}

// Percent is a share in whole per cent, which is never -0. Only nothing is 0, and only all is 100.
func Percent(share float64) string {
	switch whole := math.Round(100*share) + 0; {
	case share > 0 && whole == 0:
		return "<1"
	case share < 1 && whole == 100:
		return ">99"
	default:
		return fmt.Sprint(whole)
	}
}

// percent is an interval as people read it.
func (v Interval) percent() string {
	return fmt.Sprintf("%s %% (%s to %s)", Percent(v.Value), Percent(v.Low), Percent(v.High))
}
