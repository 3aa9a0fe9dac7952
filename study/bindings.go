package study

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/parser"
)

// checkpoint is the directory for checkpoints of a trial's next run. Each of its repeats
// has one of its own, as it has a seed. No other configuration's is found there, whatever
// the journal has been through.
func checkpoint(l layout.Study, c *Config, t *Trial) string {
	return filepath.Join(l.Trial(t.first().Number), "checkpoint-"+t.checkpointKey(c)[:8])
}

// RenderSetup returns the setup command as it would run.
func (c *Config) RenderSetup(l layout.Study) string {
	r, err := command.Command{Shell: c.Setup}.Render(TrialBindings(l, c, &Trial{}, 0, 0))
	if err != nil {
		return c.Setup
	}
	return r.Shell
}

// TrialBindings are those of an attempt at a trial in a slot; trial 0 is the setup command.
func TrialBindings(l layout.Study, c *Config, t *Trial, attempt, slot int) *command.Bindings {
	if t.Number == 0 {
		return &command.Bindings{Study: string(l), Seed: c.Seed}
	}
	dir := l.Attempt(layout.AttemptID{Trial: t.Number, Attempt: attempt})
	return &command.Bindings{
		Study: string(l), Trial: t.Number, Attempt: attempt, Slot: slot,
		Seed:     t.seed(c),
		TrialDir: dir, CheckpointDir: checkpoint(l, c, t), ParamsFile: filepath.Join(dir, layout.ParamsName),
		Params: c.Params, Values: t.Values,
	}
}

// LastBindings are those of the last attempt at a trial that has ended, so that its
// command can be run again as it was.
func LastBindings(l layout.Study, c *Config, t *Trial) *command.Bindings {
	before := *t
	before.Status = ""
	return TrialBindings(l, c, &before, max(t.Attempt, 1), t.Slot)
}

// Environment is what the spec gives a trial, as NAME=value: that of all trials,
// then that of its slot.
func (c *Config) Environment(b *command.Bindings) []string {
	given := c.Run.Env
	if b.Slot < len(c.Run.Slots) {
		given = slices.Concat(given, c.Run.Slots[b.Slot].Env)
	}
	var env []string
	for _, e := range given {
		name, text, _ := strings.Cut(e, "=")
		if value, absent := b.Expand(text); !absent {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Cwd is the working directory of a trial.
func (c *Config) Cwd(b *command.Bindings) string {
	cwd, _ := b.Expand(c.Run.Cwd)
	if filepath.IsAbs(cwd) {
		return cwd
	}
	return filepath.Join(c.Dir, cwd)
}

// secretRE matches the names of variables whose values are not to be shown.
var secretRE = regexp.MustCompile(`(?i)(?:^|_)(?:[A-Z]*KEY|[A-Z]*TOKEN|[A-Z]*SECRET|[A-Z]*PASS(?:WORD|WD|PHRASE)?|PWD|CREDENTIALS?|AUTH|COOKIE|DSN)(?:_|$)`)

// listRE finds what may stand between commands of which the last is run whatever becomes of the first.
var listRE = regexp.MustCompile(`[;\n]|\|\||[^&<>]&(?:[^&>]|$)`)

// Paste returns a function that makes a trial's command a line for a shell in the directory here, to be run again
// by hand: in its working directory, with the environment that the spec gives it and
// its slot. The values of secrets are left for the reader's environment to give.
func (c *Config) Paste(here string) func(*command.Bindings) (string, error) {
	render := c.Command.Parsed()
	return func(b *command.Bindings) (string, error) {
		cmd, err := render(b)
		if err != nil {
			return "", err
		}
		return c.pasted(cmd, b, here), nil
	}
}

// pasted is Paste of a command that is rendered.
func (c *Config) pasted(cmd command.Command, b *command.Bindings, here string) string {
	var before []string
	if c.Run.Cwd != "" || c.Dir != here {
		before = append(before, "cd "+shell.Word(c.Cwd(b)))
	}
	export := func(name, value string, secret bool) {
		word := shell.Word(value)
		if secret {
			word = `"${` + name + `:?is a secret}"`
		}
		before = append(before, "export "+name+"="+word)
	}
	for _, e := range c.Environment(b) {
		name, value, _ := strings.Cut(e, "=")
		export(name, value, secretRE.MatchString(name))
	}
	for _, name := range c.Run.SecretEnv {
		export(name, "", true)
	}
	if c.Run.ParamsFromEnv {
		for _, v := range b.All() {
			export("LBOTUNE_PARAM_"+strings.ToUpper(v.Name), v.Value.Text(), false)
		}
	}
	if len(before) == 0 {
		return cmd.String()
	}
	then, end := " && ", ")"
	if listRE.MatchString(cmd.Shell) {
		then = " || exit; " // && would guard its first command alone
	}
	if strings.ContainsAny(cmd.Shell, "#\n") {
		end = "\n)" // it may end with a comment or a here-document
	}
	return "(" + strings.Join(before, " && ") + then + cmd.String() + end
}

// ownPlaceholders differ between trials that run at the same time.
var ownPlaceholders = []string{"trial", "trial_dir", "slot", "seed", "checkpoint_dir", "params_file"}

// SharedResult returns the first metric that trials which ran at the same time would
// write to one file. Of copied sources they share what is behind a link, as linked says if it is
// known, and of isolated ones hidden directories, too.
func (c *Config) SharedResult(linked func(inside string) bool) (m Metric, shared bool) {
	own := func(p command.Part) bool { return p.IsPlaceholder() && slices.Contains(ownPlaceholders, p.Name) }
	for _, m := range c.Metrics {
		path := m.File
		if !filepath.IsAbs(path) && !strings.HasPrefix(path, "{study}") && !strings.HasPrefix(path, "{trial_dir}") {
			path = filepath.Join(c.Run.Cwd, path)
		}
		inside, ok := strings.CutPrefix(filepath.Clean(path), filepath.Join("{trial_dir}", layout.SourcesName)+"/")
		if src := c.Run.Sources; ok && src != nil {
			entry, _, deeper := strings.Cut(inside, "/")
			leads := deeper && entry[0] == '.' || entry == "node_modules"
			if src.Mode == "link" || src.Mode == "isolate" && leads || linked != nil && linked(inside) {
				path = inside
			}
		}
		if m.File != "" && !slices.ContainsFunc(command.Parse(path), own) {
			return m, true
		}
	}
	return Metric{}, false
}

// Reserved lists the names in an attempt's directory that no file of the spec's can have.
func (c *Config) Reserved() []string {
	names := []string{"attempt.jsonl", "stdout", "stderr", layout.ParamsName} // the first three are the launcher's
	if c.Run.Sources != nil {
		names = append(names, layout.SourcesName)
	}
	if c.Run.SlotCount() > 1 {
		names = append(names, layout.SlotName)
	}
	for _, m := range c.Metrics {
		if m.File != "" {
			names = append(names, layout.BeforeName)
		}
		if p, err := parser.Compile(m.Rule); err == nil && p.Variable() != "" {
			names = append(names, layout.ResultName)
		}
	}
	return names
}
