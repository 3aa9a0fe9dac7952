package command

import (
	"path/filepath"
	"strings"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/shell"
)

// Environment is what the spec gives a trial, as NAME=value: that of all trials,
// then that of its slot.
func (b *Bindings) Environment() []string {
	var env []string
	for _, e := range b.Env {
		name, text, _ := strings.Cut(e, "=")
		if value, absent := b.Expand(text); !absent {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// WorkDir is the working directory of a trial.
func (b *Bindings) WorkDir() string {
	cwd, _ := b.Expand(b.Cwd)
	return Inside(b.Dir, cwd)
}

// Inside is where a path leads that is read in a directory, also behind a link before "..".
func Inside(dir, path string) string {
	if !filepath.IsAbs(path) && dir != "" {
		path = dir + "/" + path
	}
	if strings.Contains(path, "..") {
		path = layout.Direct(path)
	}
	return filepath.Join(path)
}

// secretRE matches the names of variables whose values are not to be shown.
var secretRE = pattern.Lazy(`(?i)(?:^|[-_.])(?:[A-Z]*KEY|[A-Z]*TOKEN|[A-Z]*SECRET|[A-Z]*PASS(?:WORD|WD|PHRASE)?|PWD|CREDENTIALS?|AUTH|COOKIE|DSN)(?:[-_.]|$)`)

// listRE finds what may stand between commands of which the last is run whatever becomes of the first.
var listRE = pattern.Lazy(`[;\n]|\|\||[^&<>]&(?:[^&>]|$)`)

// Paste returns a function that makes a trial's command a line for a shell in the directory here, to be run again
// by hand: in its working directory, with the environment that the spec gives it and
// its slot. The values of secrets are left for the reader's environment to give.
func (c Command) Paste(here string) func(*Bindings) (string, error) {
	render := c.Parsed()
	return func(b *Bindings) (string, error) {
		cmd, err := render(b)
		if err != nil {
			return "", err
		}
		return cmd.pasted(b, here), nil
	}
}

// pasted is Paste of a command that is rendered.
func (c Command) pasted(b *Bindings, here string) string {
	var before []string
	line, odd := c.String(), ""
	if b.Cwd != "" || b.Dir != here {
		before = append(before, "cd "+shell.Word(b.WorkDir()))
	}
	export := func(name, value string, secret bool) {
		word := shell.Word(value)
		if secret {
			word = `"${` + name + `:?is a secret}"`
		}
		switch {
		case shell.IsName(name):
			before = append(before, "export "+name+"="+word)
		case secret: // which no shell expands
			before = append(before, ": "+shell.Quote("the secret "+name+" is left out, since no shell can set it"))
		default: // which no shell exports
			odd += " " + shell.Quote(name) + "=" + word
		}
	}
	for _, e := range b.Environment() {
		name, value, _ := strings.Cut(e, "=")
		export(name, value, secretRE().MatchString(name))
	}
	for _, name := range b.SecretEnv {
		export(name, "", true)
	}
	if b.ParamsFromEnv {
		for _, v := range b.All() {
			export("LBOTUNE_PARAM_"+strings.ToUpper(v.Name), v.Value.Text(), false)
		}
	}
	if odd != "" && c.Shell != "" {
		line = "/bin/sh -c " + shell.Quote(line)
	}
	if odd != "" {
		line = "env" + odd + " " + line
	}
	if len(before) == 0 {
		return line
	}
	then, end := " && ", ")"
	if listRE().MatchString(c.Shell) {
		then = " || exit; " // && would guard its first command alone
	}
	if strings.ContainsAny(c.Shell, "#\n") {
		end = "\n)" // it may end with a comment or a here-document
	}
	return "(" + strings.Join(before, " && ") + then + line + end
}
