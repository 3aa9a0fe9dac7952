package study

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study/command"
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
		if used[p.Name] == nil && !ReservedName(p.Name) && identifierRE.MatchString(p.Name) {
			c.at(fmt.Sprintf("write {%s} where the program takes it; if it reads $LBOTUNE_PARAM_%s by itself, set params_from_env = true in [run]",
				p.Name, strings.ToUpper(p.Name)), "the command never uses this parameter", "params", p.Name)
		}
	}
}

func (c *check) reserved() {
	upper := map[string]string{}
	for _, p := range c.config.Params {
		if ReservedName(p.Name) {
			c.at("choose another name", fmt.Sprintf("{%s} already means something else", p.Name), "params", p.Name)
		}
		if other, clash := upper[strings.ToUpper(p.Name)]; clash {
			c.at("", fmt.Sprintf("differs from %s only in case, so that both would be LBOTUNE_PARAM_%s", other, strings.ToUpper(p.Name)), "params", p.Name)
		}
		upper[strings.ToUpper(p.Name)] = p.Name
	}
}

// identifierRE matches what can be a placeholder.
var identifierRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ReservedName reports whether a placeholder of that name is no parameter's.
func ReservedName(name string) bool { return slices.Contains(builtins, name) || name == "flag" }

// templates lists every text with placeholders.
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
	if slices.ContainsFunc(parts, command.Part.IsPlaceholder) {
		from := tpl.provides(c.config.Params)
		for _, p := range parts {
			if p.IsPlaceholder() {
				c.placeholder(tpl, p, from, used)
			}
		}
	}
	c.nearly(tpl, parts, used)
}

// placeholder checks one placeholder.
func (c *check) placeholder(tpl template, p command.Part, from provided, used map[string][]use) {
	bad := func(hint, format string, args ...any) { c.piece(tpl, p, hint, format, args...) }
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
		c.misspeltFlag(tpl, p) // {user:root} and the like are text
		return
	case !known && i >= 0:
		bad("", "%s is not known before the first trial; setup may use %s", p.Text, braced(setupBuiltins))
		return
	case !known && tpl.file:
		return
	case !known:
		bad(fmt.Sprintf("%s; for the text %s itself write {%s}", spelling.DidYouMean(p.Name, names), p.Text, p.Text), "no parameter provides %s", p.Text)
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
