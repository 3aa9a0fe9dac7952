package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
	"github.com/lbotune/lbotune/study/command"
)

// builtins are the placeholders that every trial provides.
var builtins = []string{
	"trial", "trial_dir", "study", "seed", "slot", "attempt", "params_json", "params_file", "checkpoint_dir",
}

// setupBuiltins are those that exist before the first trial.
var setupBuiltins = []string{"study", "seed"}

// template is one text of the spec in which placeholders are replaced.
type template struct {
	key   *table // the table that holds it
	name  string // its key there
	text  string
	shell bool // replaced values are quoted for /bin/sh
	setup bool // no trial exists yet
	file  bool // a file, which may hold braces of its own

	argv  bool   // an element of an array
	above string // the elements before it
}

// use is one place where a template names a parameter.
type use struct {
	template template
	part     command.Part
}

// checkPlaceholders checks every template against the parameters, and every
// parameter against the templates. It sets the parameters' formats.
func (t *table) checkPlaceholders(cfg *study.Config) {
	t.reserved(cfg.Params)
	used := map[string][]use{}
	for _, tpl := range t.templates(*cfg) {
		tpl.checkAll(cfg.Params, used)
	}
	if cfg.Run.ParamsFromEnv || used["params_json"] != nil || used["params_file"] != nil {
		return
	}
	for i := range cfg.Params {
		setFormat(&cfg.Params[i], used[cfg.Params[i].Name])
	}
	if cfg.Command.Shell == "" && len(cfg.Command.Argv) == 0 {
		return // it may have used everything
	}
	all := t.sub("params")
	for _, p := range cfg.Params {
		if used[p.Name] == nil && !isReserved(p.Name) && identifierRE.MatchString(p.Name) {
			all.sub(p.Name).self(
				fmt.Sprintf("write {%s} where the program takes it; if it reads $LBOTUNE_PARAM_%s by itself, set params_from_env = true in [run]",
					p.Name, strings.ToUpper(p.Name)),
				"the command never uses this parameter")
		}
	}
}

func (t *table) reserved(params []spaces.Param) {
	all := t.sub("params")
	upper := map[string]string{}
	for _, p := range params {
		if isReserved(p.Name) {
			all.sub(p.Name).self("choose another name", "{%s} already means something else", p.Name)
		}
		if other, clash := upper[strings.ToUpper(p.Name)]; clash {
			all.sub(p.Name).self("", "differs from %s only in case, so that both would be LBOTUNE_PARAM_%s", other, strings.ToUpper(p.Name))
		}
		upper[strings.ToUpper(p.Name)] = p.Name
	}
}

// identifierRE matches what can be a placeholder.
var identifierRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func isReserved(name string) bool { return slices.Contains(builtins, name) || name == "flag" }

// templates lists every text with placeholders.
func (t *table) templates(cfg study.Config) []template {
	run := t.sub("run")
	out := []template{
		{key: t, name: "setup", text: cfg.Setup, shell: true, setup: true},
		{key: t, name: "command", text: cfg.Command.Shell, shell: true},
		{key: run, name: "cwd", text: cfg.Run.Cwd},
	}
	for i, m := range cfg.Metrics {
		key := t.sub("objective")
		if i > 0 {
			key = t.sub("metrics").sub(m.Name)
		}
		out = append(out, template{key: key, name: "file", text: m.File})
	}
	above := ""
	for _, a := range cfg.Command.Argv {
		out = append(out, template{key: t, name: "command", text: a, argv: true, above: above})
		above += a + "\n"
	}
	out = append(out, variables(run.sub("env"), cfg.Run.Env)...)
	for i, slot := range run.subs("slots") {
		out = append(out, variables(slot.sub("env"), cfg.Run.Slots[i].Env)...)
	}
	files := t.subs("files")
	for i, f := range cfg.Files {
		for _, s := range f.Set {
			if text, ok := s.Value.Any().(string); ok {
				out = append(out, template{key: files[i], name: "set", text: text})
			}
		}
		if len(f.Set) > 0 {
			continue
		}
		name := "text"
		if files[i].has("from") {
			name = "from"
		}
		out = append(out, template{key: files[i], name: name, text: f.Text, file: true})
	}
	return out
}

// variables are the templates in a table of environment variables.
func variables(t *table, env []string) []template {
	var out []template
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		out = append(out, template{key: t, name: name, text: value})
	}
	return out
}

// provided is what placeholders may name.
type provided struct {
	params []spaces.Param
	at     map[string]int // of the parameters, by name
	names  []string       // all of them that are known where the template is used
	known  map[string]bool
}

// provides lists what the template's placeholders may name.
func (tpl template) provides(params []spaces.Param) provided {
	p := provided{params: params, at: make(map[string]int, len(params)), names: slices.Clone(builtins), known: map[string]bool{}}
	if tpl.setup {
		p.names = slices.Clone(setupBuiltins)
	}
	for i, par := range params {
		p.at[par.Name] = i
		if !tpl.setup && identifierRE.MatchString(par.Name) {
			p.names = append(p.names, par.Name)
		}
	}
	for _, name := range p.names {
		p.known[name] = true
	}
	return p
}

// checkAll complains about the template's placeholders, and notes those of
// parameters in used.
func (tpl template) checkAll(params []spaces.Param, used map[string][]use) {
	parts := command.Parse(tpl.text)
	if tpl.shell {
		var err error
		parts, err = command.ParseShell(tpl.text)
		var te *command.SyntaxError
		if errors.As(err, &te) {
			tpl.key.at(tpl.name, "", "%s", te.Message)
		}
	}
	if !slices.ContainsFunc(parts, command.Part.IsPlaceholder) {
		tpl.checkNearly(parts, params, used)
		return
	}
	from := tpl.provides(params)
	for _, p := range parts {
		if p.IsPlaceholder() {
			tpl.check(p, from, used)
		}
	}
	tpl.checkNearly(parts, params, used)
}

// check complains about one placeholder.
func (tpl template) check(p command.Part, from provided, used map[string][]use) {
	bad := func(hint, format string, args ...any) { tpl.complain(p, hint, format, args...) }
	params, names, known := from.params, from.names, from.known[p.Name]
	i, there := from.at[p.Name]
	if !there {
		i = -1
	}
	if p.Context != command.InWord && known {
		used[p.Name] = append(used[p.Name], use{tpl, p})
		bad(wayOut(p), "%s stands %s, where its value can't be quoted safely", p.Text, p.Context)
		return
	}
	switch {
	case !known && p.Format != "" && !command.ValidFormat(p.Format):
		tpl.misspeltFlag(p, params) // {user:root} and the like are text
		return
	case !known && i >= 0:
		bad("", "%s is not known before the first trial; setup may use %s", p.Text, braced(setupBuiltins))
		return
	case !known && tpl.file:
		return
	case !known:
		bad(fmt.Sprintf("%s; for the text %s itself write {%s}", didYouMean(p.Name, names), p.Text, p.Text), "no parameter provides %s", p.Text)
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

// wayOut says how a command can use a placeholder that stands where it can't.
func wayOut(p command.Part) string {
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

func braced(names []string) string { return "{" + strings.Join(names, "}, {") + "}" }

// complain points at the placeholder itself where the file shows it.
func (tpl template) complain(p command.Part, hint, format string, args ...any) {
	d := tpl.key.doc
	at := d.locate(tpl.key.key(tpl.name), tpl.key.element, false)
	before := strings.Count(tpl.above+tpl.text[:p.Start], p.Text)
	for line := at.line; line > 0 && line <= len(d.lines); line++ {
		text := d.lines[line-1]
		if tpl.argv {
			text = stripComment(text)
		}
		if n := strings.Count(text, p.Text); n <= before {
			before -= n
			continue
		}
		col := strings.Index(text, p.Text)
		for ; before > 0; before-- {
			col += len(p.Text)
			col += strings.Index(text[col:], p.Text)
		}
		at = place{line, col + 1, len(p.Text)}
		break
	}
	d.complain(at, tpl.key.name(tpl.name), hint, format, args...)
}
