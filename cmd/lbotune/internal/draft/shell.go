package draft

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
)

// wrappers run the command that follows them; the options named take a value.
var wrappers = map[string]string{"env": "uCS", "exec": "a", "timeout": "ks", "nice": "n", "ionice": "cnp", "nohup": "", "time": "fo",
	"stdbuf": "ioe", "setsid": "", "taskset": "c", "chrt": "", "numactl": "NmCipP", "sudo": "ugpC", "xvfb-run": "nsfelp",
	"mpirun": "ncNH", "mpiexec": "ncNH", "srun": "nNcptJAGwx"}

// ofWrapperRE are what a wrapper has before its command: variables, and numbers such as 60s.
var ofWrapperRE = pattern.Lazy(`^(-.*|[A-Za-z_]\w*=.*|[\d.]+[smhd]?|0x[\da-fA-F]+)$`)

// programOf is the place of the program in a command line, behind its environment and wrappers.
func programOf(argv []string) (i int) {
	values := ""
	for ; i < len(argv); i++ {
		a := argv[i]
		if v, ok := wrappers[path.Base(a)]; ok {
			values = v
		} else if len(a) == 2 && a[0] == '-' && strings.Contains(values, a[1:]) {
			i++
		} else if !ofWrapperRE().MatchString(a) {
			break
		}
	}
	return min(i, len(argv))
}

var shellRE = pattern.Lazy(`^(ba|da|z|k|mk)?sh$`)

// scriptOf is the place of the text that a shell runs by its option -c; 0 if there is none.
func scriptOf(argv []string) int {
	program := programOf(argv)
	if program >= len(argv) || !shellRE().MatchString(path.Base(argv[program])) {
		return 0
	}
	for i := program + 1; i+1 < len(argv) && strings.HasPrefix(argv[i], "-"); i++ {
		switch a := argv[i]; {
		case strings.HasPrefix(a, "--"):
		case strings.HasSuffix(a, "c"):
			return i + 1
		case strings.HasSuffix(a, "o"): // -o pipefail
			i++
		}
	}
	return 0
}

// simpleRE are words in which nothing is quoted, expanded or replaced.
var simpleRE = pattern.Lazy(`^[\w.,:=@%+/~-]+$`)

// asideRE are programs that prepare, or that filter what another prints: their options are their own.
var asideRE = pattern.Lazy(`^(\.|\[|awk|cat|cd|cp|cut|echo|egrep|export|fgrep|grep|head|ln|ls|mkdir|mv|printf|rm|sed|set|sleep|source|tail|tee|test|touch|tr|ulimit|uniq|wc|xargs)$`)

// call is a simple command in a line of shell: the places of its words, variables before it among them.
type call [][2]int

// words are the words of a call as they are written in its line.
func (c call) words(line string) []string {
	return lists.Map(c, func(at [2]int) string { return line[at[0]:at[1]] })
}

// callsOf are the commands in a line of shell that may have parameters, in their order. What is in backquotes
// is none, since no value can be quoted there, and neither is anything in a line that no shell understands.
func callsOf(line string) (calls []call) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		var c call
		add := func(n syntax.Node) { c = append(c, [2]int{int(n.Pos().Offset()), int(n.End().Offset())}) }
		switch n := n.(type) {
		case *syntax.CmdSubst:
			return !n.Backquotes
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				add(a)
			}
			for _, a := range n.Args {
				add(a)
			}
			if words := c.words(line); !asideRE().MatchString(words[min(programOf(words), len(words)-1)]) {
				calls = append(calls, c)
			}
		}
		return true
	})
	return calls
}

// shell returns a shell command with placeholders for what was guessed.
func (g *guesser) shell(line string) string {
	parts, _ := command.ParseShell(line)
	line = g.placeholders(line, parts)
	before := *g
	before.taken = maps.Clone(g.taken)
	calls := callsOf(line)
	words := lists.Map(calls, func(c call) []string { return c.words(line) })
	for _, w := range words {
		g.words(w)
	}
	if len(g.found) == 0 {
		for _, w := range words {
			g.variables(w[:programOf(w)])
		}
	}
	var edits []command.Edit // of words in which no command is
	for i, c := range calls {
		for k, at := range c {
			if words[i][k] != line[at[0]:at[1]] {
				edits = append(edits, command.Edit{Start: at[0], End: at[1], Text: words[i][k]})
			}
		}
	}
	edited := command.Edited(line, edits)
	parts, _ = command.ParseShell(edited)
	if !slices.ContainsFunc(parts, func(p command.Part) bool {
		return p.IsPlaceholder() && p.Context != command.InWord && g.taken[strings.ToUpper(p.Name)]
	}) {
		return edited
	}
	// Shells do not agree on this line: it stays as it is.
	*g = before
	return line
}

// dearRE are programs that ask for a password or a cluster's time before they run another.
var dearRE = pattern.Lazy(`(^|/)(sudo|srun)$`)

// HelpCommand is what prints a program's help: the words before its first option or file, and --help.
// It is empty where no program can be told.
func HelpCommand(argv []string) []string {
	words := helpWords(argv)
	if len(words) == 0 || slices.ContainsFunc(words, dearRE().MatchString) {
		return nil
	}
	return append(slices.Clone(words), "--help")
}

var subcommandRE = pattern.Lazy(`^[a-z][a-z_-]*$`)

func helpWords(argv []string) []string {
	if len(argv) == 1 && strings.ContainsAny(argv[0], " \t\n") {
		calls := callsOf(argv[0])
		if len(calls) == 0 || calls[0][0][0] != 0 { // something comes before the program
			return nil
		}
		argv = calls[0].words(argv[0])
	}
	program := programOf(argv)
	if program >= len(argv) || scriptOf(argv) > 0 || !simpleRE().MatchString(argv[program]) {
		return nil
	}
	i := program + scriptAt(argv[program:]) + 1
	if i == program+1 && interpreterRE().MatchString(path.Base(argv[program])) {
		return nil // its code is in the command
	}
	for i < len(argv) && subcommandRE().MatchString(argv[i]) {
		i++
	}
	return argv[:i]
}
