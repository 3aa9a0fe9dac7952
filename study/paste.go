package study

import (
	"strings"

	"github.com/lbotune/lbotune/command"
)

// Paste is a line for a shell that runs a trial's command again by hand: in its
// working directory, with the environment that the spec gives it and its slot.
func (c *Config) Paste(b *command.Bindings) (string, error) {
	cmd, err := c.Command.Render(b)
	if err != nil {
		return "", err
	}
	var before []string
	if c.Run.Cwd != "" {
		before = append(before, "cd "+command.Word(c.Cwd(b)))
	}
	export := func(name, value string) {
		before = append(before, "export "+name+"="+command.Word(value))
	}
	for _, e := range c.Environment(b) {
		name, value, _ := strings.Cut(e, "=")
		export(name, value)
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
