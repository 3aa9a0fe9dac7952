package study

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/spaces"
)

// builtins are the placeholders that every trial provides.
var builtins = []string{
	"trial", "trial_dir", "study", "seed", "slot", "attempt", "params_json", "params_file", "checkpoint_dir",
}

// setupBuiltins are those that exist before the first trial.
var setupBuiltins = []string{"study", "seed"}

// template is one text in which placeholders are replaced.
type template struct {
	key   []string // see Problem
	text  string
	shell bool // replaced values are quoted for /bin/sh
	setup bool // no trial exists yet
	file  bool // a file, which may hold braces of its own
}

// use is one place where a template names a parameter.
type use struct {
	template template
	part     command.Part
}

// placeholders checks every template against the parameters, and every
// parameter against the templates. It sets the parameters' formats.
func (c *check) placeholders() {
	cfg := c.config
	c.index = map[string]int{}
	c.reserved()
	used := map[string][]use{}
	for _, tpl := range cfg.templates() {
		c.template(tpl, used)
	}
	if cfg.Run.ParamsFromEnv || used["params_json"] != nil || used["params_file"] != nil {
		return
	}
	for i := range cfg.Params {
		c.setFormat(&cfg.Params[i], used[cfg.Params[i].Name])
	}
	if cfg.Command.Shell == "" && len(cfg.Command.Argv) == 0 {
		return // nothing is run, or it may have used everything
	}
	for _, p := range cfg.Params {
		if uses := used[p.Name]; len(p.Words) > 0 && len(uses) > 0 && !slices.ContainsFunc(uses, func(u use) bool { return !u.part.Flag && u.part.Format == "" }) {
			c.at("write {"+p.Name+"}", fmt.Sprintf("the command is given words for {%s} alone, and has %s", p.Name, uses[0].part.Text), "params", p.Name, "words")
		}
		if used[p.Name] == nil && !command.Reserved(p.Name) && shell.IsName(p.Name) {
			c.at(fmt.Sprintf("write {%s} where the program takes it; if it reads $LBOTUNE_PARAM_%s by itself, set params_from_env = true in [run]",
				p.Name, strings.ToUpper(p.Name)), "the command never uses this parameter", "params", p.Name)
		}
	}
}

func (c *check) reserved() {
	upper := map[string]string{}
	for i, p := range c.config.Params {
		c.index[p.Name] = i
		if command.Reserved(p.Name) {
			c.at("choose another name", fmt.Sprintf("{%s} already means something else", p.Name), "params", p.Name)
		}
		if other, clash := upper[strings.ToUpper(p.Name)]; clash {
			c.at(fmt.Sprintf("choose another name, say %s_2, and write {%[1]s_2} in the command", p.Name), fmt.Sprintf("differs from %s only in case, so that both would be LBOTUNE_PARAM_%s", other, strings.ToUpper(p.Name)), "params", p.Name)
		}
		upper[strings.ToUpper(p.Name)] = p.Name
	}
}

func (c *Config) templates() []template {
	out := []template{
		{key: []string{"setup"}, text: c.Setup, shell: true, setup: true},
		{key: []string{"command"}, text: c.Command.Shell, shell: true},
		{key: []string{"run", "cwd"}, text: c.Run.Cwd},
	}
	for _, m := range c.Metrics {
		out = append(out, template{key: []string{"metrics", m.Name, "file"}, text: m.File})
	}
	for i, a := range c.Command.Argv {
		out = append(out, template{key: []string{"command", strconv.Itoa(i)}, text: a})
	}
	variables := func(env []string, key ...string) {
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			out = append(out, template{key: append(slices.Clip(key), name), text: value})
		}
	}
	variables(c.Run.Env, "run", "env")
	for i, slot := range c.Run.Slots {
		variables(slot.Env, "run", "slots", strconv.Itoa(i), "env")
	}
	for i, f := range c.Files {
		key := []string{"files", strconv.Itoa(i)}
		for _, s := range f.Set {
			if text, ok := s.Value.Any().(string); ok {
				out = append(out, template{key: append(slices.Clip(key), "set"), text: text})
			}
		}
		if len(f.Set) > 0 {
			continue
		}
		name := "text"
		if f.From != "" {
			name = "from"
		}
		out = append(out, template{key: append(key, name), text: f.Text, file: true})
	}
	return out
}

// checkpoints reports whether trials have a directory for checkpoints.
func (c *Config) checkpoints() bool {
	return c.Resource() != "" || c.mentions("{checkpoint_dir}") || c.mentions("{checkpoint_dir:")
}

func (c *Config) mentions(text string) bool {
	return slices.ContainsFunc(c.templates(), func(t template) bool { return strings.Contains(t.text, text) })
}

// names lists what the template's placeholders may name.
func (tpl template) names(params []spaces.Param) []string {
	if tpl.setup {
		return setupBuiltins
	}
	names := slices.Clone(builtins)
	for _, par := range params {
		if shell.IsName(par.Name) {
			names = append(names, par.Name)
		}
	}
	return names
}

// template checks the placeholders of one text, and notes those of parameters in used.
func (c *check) template(tpl template, used map[string][]use) {
	parts := command.Parse(tpl.text)
	if tpl.shell {
		var err error
		parts, err = command.ParseShell(tpl.text)
		var te *command.SyntaxError
		if errors.As(err, &te) {
			c.at("", te.Message, tpl.key...)
		}
	}
	for _, p := range parts {
		if p.IsPlaceholder() {
			c.placeholder(tpl, p, used)
		}
	}
	c.nearly(tpl, parts, used)
}

func (c *check) placeholder(tpl template, p command.Part, used map[string][]use) {
	bad := func(hint, format string, args ...any) { c.piece(tpl, p, hint, format, args...) }
	params := c.config.Params
	i, there := c.index[p.Name]
	if !there {
		i = -1
	}
	known := slices.Contains(builtins, p.Name) || there && shell.IsName(p.Name)
	if tpl.setup {
		known = slices.Contains(setupBuiltins, p.Name)
	}
	if p.Context != command.InWord && known {
		used[p.Name] = append(used[p.Name], use{tpl, p})
		bad(wayOut(tpl.text, p), "%s stands %s, where its value can't be quoted safely", p.Text, p.Context)
		return
	}
	switch {
	case !known && p.Format != "" && !command.ValidFormat(p.Format):
		c.misspeltFlag(tpl, p) // {user:root} and the like are text
		return
	case !known && i >= 0:
		bad("", "%s is not known before the first trial; setup may use %s", p.Text, "{"+strings.Join(setupBuiltins, "}, {")+"}")
		return
	case !known && tpl.file:
		return
	case !known:
		bad(fmt.Sprintf("%s; for the text %s itself write {%s}", spelling.DidYouMean(p.Name, tpl.names(params)), p.Text, p.Text), "no parameter provides %s", p.Text)
		return
	}
	used[p.Name] = append(used[p.Name], use{tpl, p})
	switch {
	case i >= 0 && params[i].Kind == "":
		return // its type is wrong, which is said elsewhere
	case p.Flag && (i < 0 || params[i].Kind != spaces.KindBool):
		bad("", "%s: flag needs a parameter of type bool", p.Text)
	case p.Flag && p.On == "" && p.Off == "":
		bad(fmt.Sprintf("for example {flag:%s=--on} or {flag:%s=--on|--off}", p.Name, p.Name), "%s gives the program nothing", p.Text)
	case command.LiteralFormat(p.Format):
		return
	case p.Format != "" && !command.ValidFormat(p.Format):
		bad("for example {lr:.3g}, {lr:.6f}, {lr:json} or {lr:yaml}", "%s: %q is not a format", p.Text, p.Format)
	case p.Format != "" && (i < 0 || !numeric(params[i])):
		bad("", "%s: only float and int parameters have a number format", p.Text)
	case strings.HasSuffix(p.Format, "d") && params[i].Kind != spaces.KindInt:
		bad("for example {lr:.3g}", "%s: the format d is for int parameters", p.Text)
	}
}

// scriptRE finds a shell that is given a script as an argument.
var scriptRE = pattern.Lazy(`(?:^|[\s/;&|])((?:ba|da|k|z)?sh)\s+(-\w*c)\s`)

// wayOut says how a command can use a placeholder that stands where it can't.
func wayOut(text string, p command.Part) string {
	quoted := p.Context == command.InDoubleQuotes || p.Context == command.InSingleQuotes
	if shell := scriptRE().FindStringSubmatch(text); quoted && shell != nil {
		return fmt.Sprintf(`write a list of words, the last of which is the script: command = ["%s", "%s", "... %s ..."]`, shell[1], shell[2], p.Text)
	}
	variable := fmt.Sprintf("put it into a variable first: %s=%s; ... $%s", p.Name, p.Text, p.Name)
	switch p.Context {
	case command.InDoubleQuotes:
		return "remove the quotes, since lbotune quotes every value by itself; or " + variable
	case command.InSingleQuotes:
		return "remove the quotes, since lbotune quotes every value by itself; code in quotes is given it as an argument: awk -v " +
			p.Name + "=" + p.Text
	case command.InArithmetic:
		return fmt.Sprintf("put it into a variable first: %s=%s; ... $((%s * 2))", p.Name, p.Text, p.Name)
	case command.InBackquotes:
		return "write $(...) instead of backquotes"
	case command.InComment:
		return fmt.Sprintf("remove it; for the text %s write {%s}", p.Text, p.Text)
	case command.AfterBackslash:
		return fmt.Sprintf("remove the backslash; for the text %s write {%s}", p.Text, p.Text)
	}
	return variable
}

func numeric(p spaces.Param) bool { return p.Kind == spaces.KindFloat || p.Kind == spaces.KindInt }

// setFormat gives a parameter the format in which the program takes it, so that
// what the program is given, what is recorded and what the optimizer is told are
// one number. There is none if the program is given the exact value anywhere. Of
// several formats the most precise one counts.
func (c *check) setFormat(p *spaces.Param, uses []use) {
	best, most := use{}, -1.0
	for _, u := range uses {
		if !numeric(*p) || !command.NumberFormat(u.part.Format) {
			return
		}
		if digits := precision(u.part.Format); digits > most {
			best, most = u, digits
		}
	}
	if len(uses) == 0 || math.IsInf(most, 1) {
		return
	}
	format := best.part.Format
	if p.Kind == spaces.KindInt {
		if x := math.Max(math.Abs(p.Min), math.Abs(p.Max)); !strings.ContainsAny(format, "fF") && x > math.Pow(10, most) {
			c.piece(best.template, best.part, "give it more digits, or write it as {"+p.Name+"}",
				"%s has too few digits for whole numbers up to %s", best.part.Text, spaces.Float(x).Text())
		}
		return
	}
	rounded := *p
	rounded.Format = format
	problems := rounded.Check()
	if p.Step > 0 { // that looks at the first steps; the last ones may have more digits
		rounded.Min = max(p.Min, p.Max-1000*p.Step)
		problems = append(problems, rounded.Check()...)
	}
	for _, prob := range problems {
		if prob.Field == "format" {
			c.piece(best.template, best.part, "use more digits, g instead of f, or bounds that "+best.part.Text+" can write", "%s: %s", best.part.Text, prob.Message)
			return
		}
	}
	p.Format = format
}

// precision is how many digits a number format keeps: significant ones, or for f
// those after the point. Without a precision g keeps all.
func precision(format string) float64 {
	verb := format[len(format)-1]
	_, digits, given := strings.Cut(format[:len(format)-1], ".")
	n, err := strconv.Atoi(digits)
	switch {
	case verb == 'd' || !given && strings.ContainsRune("gG", rune(verb)):
		return math.Inf(1)
	case !given || err != nil:
		n = 6
	}
	switch verb {
	case 'e', 'E':
		n++
	case 'g', 'G':
		n = max(n, 1)
	}
	return float64(n)
}

// nearlyRE matches what is text, but looks like a placeholder: {lr }, { lr}, {lr:}
// and {flag: bn}. With blanks on both sides it is a block of some language.
var nearlyRE = pattern.Lazy(`\{( *)([A-Za-z_][A-Za-z0-9_]*)(: *|)([^{}\s"']*)( *)\}`)

// nearly complains about text that was surely meant as a placeholder of a
// parameter, and notes the parameter in used.
func (c *check) nearly(tpl template, parts []command.Part, used map[string][]use) {
	for _, p := range parts {
		if p.IsPlaceholder() || len(p.Text) != p.End-p.Start { // {{lr}}
			continue
		}
		for _, m := range nearlyRE().FindAllStringSubmatchIndex(p.Text, -1) {
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
	if slices.Contains(namesOf(c.config.Params), meant.Name) {
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
