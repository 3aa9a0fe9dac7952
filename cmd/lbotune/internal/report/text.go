package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the page's text.
func (s *Study) Markdown(w io.Writer) error {
	escape := strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`).Replace
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s, %s\n\n", escape(clean(s.Name, 80)), escape(clean(s.Standing, 300)), escape(clean(s.Aim(), 200)))
	for _, t := range s.tiles() {
		fmt.Fprintf(&b, "- %s: %s\n", t[1], t[0])
	}
	b.WriteString("\n" + escape(clean(strings.Join(s.words(), " "), 4000)) + "\n")
	if s.Model != nil {
		for _, im := range s.Model.Importances() {
			fmt.Fprintf(&b, "\n| parameter | part in %s | alone | among the good | on the way to the best |\n| --- | --- | --- | --- | --- |\n", escape(im.Variance()))
			for _, r := range im.Ranked() {
				if r.Never {
					fmt.Fprintf(&b, "| %s | never varied | | | |\n", escape(r.Param))
					continue
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", escape(r.Param), r.Total.percent(), r.Main.percent(), r.Good.percent(), im.Share(r.Gain).percent())
			}
		}
	}
	for _, f := range s.Failures {
		fmt.Fprintf(&b, "\n%d failed: %s, such as trial %d\n", len(f.Trials), escape(clean(f.Reason, 300)), f.Last())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// percent is an interval as people read it.
func (v Interval) percent() string {
	return fmt.Sprintf("%.0f %% (%.0f to %.0f)", 100*v.Value, 100*v.Low, 100*v.High)
}
