package study

import "strings"

// Paste is a line for a shell that runs a trial's command again by hand: in its
// working directory, with the environment that the spec gives it and its slot.
func (c *Config) Paste(b *Bindings) (string, error) {
	command, err := c.Command.Render(b)
	if err != nil {
		return "", err
	}
	var before []string
	if cwd, _ := renderText(c.Run.Cwd, b); cwd != "" {
		before = append(before, "cd "+quoteWord(absolute(c.Dir, cwd)))
	}
	export := func(name, value string) {
		before = append(before, "export "+name+"="+quoteWord(value))
	}
	for _, e := range c.specEnv(b) {
		name, value, _ := strings.Cut(e, "=")
		export(name, value)
	}
	if c.Run.ParamsFromEnv {
		for _, v := range b.all() {
			export("LBOTUNE_PARAM_"+strings.ToUpper(v.Name), v.Value.Text())
		}
	}
	if len(before) == 0 {
		return command.String(), nil
	}
	end := ")"
	if strings.ContainsAny(command.Shell, "#\n") {
		end = "\n)" // it may end with a comment or a here-document
	}
	return "(" + strings.Join(before, " && ") + " && " + command.String() + end, nil
}
