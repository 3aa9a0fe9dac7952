package study

import (
	"regexp"
	"strings"

	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/study/command"
)

// secretRE matches the names of variables whose values are not to be shown.
var secretRE = regexp.MustCompile(`(?i)(?:^|_)(?:[A-Z]*KEY|[A-Z]*TOKEN|[A-Z]*SECRET|[A-Z]*PASS(?:WORD|WD|PHRASE)?|PWD|CREDENTIALS?|AUTH|COOKIE|DSN)(?:_|$)`)

// Paste is a line for a shell in the directory here that runs a trial's command again
// by hand: in its working directory, with the environment that the spec gives it and
// its slot. The values of secrets are left for the reader's environment to give.
func (c *Config) Paste(b *command.Bindings, here string) (string, error) {
	cmd, err := c.Command.Render(b)
	if err != nil {
		return "", err
	}
	var before []string
	if c.Run.Cwd != "" || c.Dir != here {
		before = append(before, "cd "+shell.Word(c.Cwd(b)))
	}
	export := func(name, value string) {
		before = append(before, "export "+name+"="+shell.Word(value))
	}
	secret := func(name string) {
		before = append(before, "export "+name+`="${`+name+`:?is a secret}"`)
	}
	for _, e := range c.Environment(b) {
		name, value, _ := strings.Cut(e, "=")
		if secretRE.MatchString(name) {
			secret(name)
			continue
		}
		export(name, value)
	}
	for _, name := range c.Run.SecretEnv {
		secret(name)
	}
	if c.Run.ParamsFromEnv {
		for _, v := range b.All() {
			export("LBOTUNE_PARAM_"+strings.ToUpper(v.Name), v.Value.Text())
		}
	}
	if len(before) == 0 {
		return cmd.String(), nil
	}
	end := ")"
	if strings.ContainsAny(cmd.Shell, "#\n") {
		end = "\n)" // it may end with a comment or a here-document
	}
	return "(" + strings.Join(before, " && ") + " && " + cmd.String() + end, nil
}
