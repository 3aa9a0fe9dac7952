package study

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study/command"
)

// nearlyRE matches what is text, but looks like a placeholder: {lr }, { lr}, {lr:}
// and {flag: bn}. With blanks on both sides it is a block of some language.
var nearlyRE = regexp.MustCompile(`\{( *)([A-Za-z_][A-Za-z0-9_]*)(: *|)([^{}\s"']*)( *)\}`)

// nearly complains about text that was surely meant as a placeholder of a
// parameter, and notes the parameter in used.
func (c *check) nearly(tpl template, parts []command.Part, used map[string][]use) {
	for _, p := range parts {
		if p.IsPlaceholder() || len(p.Text) != p.End-p.Start { // {{lr}}
			continue
		}
		for _, m := range nearlyRE.FindAllStringSubmatchIndex(p.Text, -1) {
			at := command.Part{Text: p.Text[m[0]:m[1]], Start: p.Start + m[0], End: p.Start + m[1]}
			blocks := m[2] < m[3] && m[10] < m[11]
			if !blocks && (at.Start == 0 || !strings.ContainsRune("${", rune(tpl.text[at.Start-1]))) {
				c.meant(tpl, at, p.Text[m[4]:m[5]], p.Text[m[8]:m[9]], used)
			}
		}
	}
}

// meant complains about text that is the placeholder {name:format} but for a blank
// or a format that is missing.
func (c *check) meant(tpl template, at command.Part, name, format string, used map[string][]use) {
	want := "{" + name + "}"
	if format != "" {
		want = "{" + name + ":" + format + "}"
	}
	meant := command.Parse(want)[0]
	if slices.ContainsFunc(c.config.Params, func(p spaces.Param) bool { return p.Name == meant.Name }) {
		used[meant.Name] = append(used[meant.Name], use{tpl, meant})
		c.piece(tpl, at, "", "%s is not a placeholder; write %s", at.Text, want)
	}
}

// misspeltFlag complains about {flg:b}, where b is a switch.
func (c *check) misspeltFlag(tpl template, p command.Part) {
	name, _, _ := strings.Cut(p.Format, "=")
	_, near := spelling.Nearest(p.Name, []string{"flag"})
	if !near || !slices.ContainsFunc(c.config.Params, func(q spaces.Param) bool { return q.Name == name && q.Kind == spaces.KindBool }) {
		return
	}
	c.piece(tpl, p, fmt.Sprintf("for the text %s itself write {%s}", p.Text, p.Text), "%s is not a placeholder; did you mean {flag:%s}?", p.Text, p.Format)
}
