package draft

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// wrappers run the command that follows them; the options named take a value.
var wrappers = map[string]string{"env": "uCS", "exec": "a", "timeout": "ks", "nice": "n", "ionice": "cnp", "nohup": "", "time": "fo",
	"stdbuf": "ioe", "setsid": "", "taskset": "", "chrt": ""}

// ofWrapperRE are what a wrapper has before its command: variables, and numbers such as 60s.
var ofWrapperRE = regexp.MustCompile(`^(-.*|[A-Za-z_]\w*=.*|[\d.]+[smhd]?|0x[\da-fA-F]+)$`)

// programOf is the place of the program in a command line, behind its environment and wrappers.
func programOf(argv []string) (i int) {
	values := ""
	for ; i < len(argv); i++ {
		a := argv[i]
		if v, ok := wrappers[path.Base(a)]; ok {
			values = v
		} else if len(a) == 2 && a[0] == '-' && strings.Contains(values, a[1:]) {
			i++
		} else if !ofWrapperRE.MatchString(a) {
			break
		}
	}
	return i
}

var shellRE = regexp.MustCompile(`^(ba|da|z|k|mk)?sh$`)

// scriptOf is the place of the text that a shell runs by its option -c; 0 if there is none.
func scriptOf(argv []string) int {
	program := programOf(argv)
	if program >= len(argv) || !shellRE.MatchString(path.Base(argv[program])) {
		return 0
	}
	for i := program + 1; i+1 < len(argv) && strings.HasPrefix(argv[i], "-"); i++ {
		if strings.HasSuffix(argv[i], "c") && !strings.HasPrefix(argv[i], "--") {
			return i + 1
		}
	}
	return 0
}

// shellWordRE are the words of a shell command, and what stands between its commands.
var shellWordRE = regexp.MustCompile(`[^\s;|&()<>]+|[;|&()<>\n]+`)

// simpleRE are words in which nothing is quoted, expanded or replaced.
var simpleRE = regexp.MustCompile(`^[\w.,:=@%+/~-]+$`)

// asideRE are programs that prepare, or that filter what another prints: their options are their own.
var asideRE = regexp.MustCompile(`^(\.|\[|awk|cat|cd|cp|cut|echo|egrep|export|fgrep|grep|head|ln|ls|mkdir|mv|printf|rm|sed|set|sleep|source|tail|tee|test|touch|tr|ulimit|uniq|wc|xargs)$`)

// shell returns a shell command with placeholders for what was guessed.
func (g *guesser) shell(line string) string {
	line = g.placeholders(line)
	at := shellWordRE.FindAllStringIndex(line, -1)
	words := make([]string, len(at))
	for i, a := range at {
		words[i] = line[a[0]:a[1]]
	}
	of := commandsOf(words)
	for _, c := range of {
		g.words(c)
	}
	if len(g.found) == 0 {
		for _, c := range of {
			g.variables(c[:min(programOf(c), len(c))])
		}
	}
	var out strings.Builder
	end := 0
	for i, a := range at {
		out.WriteString(line[end:a[0]] + words[i])
		end = a[1]
	}
	return out.String() + line[end:]
}

// commandsOf are the words of each command that may have parameters: up to what separates it from the next.
func commandsOf(words []string) (list [][]string) {
	from := 0
	for i := 0; i <= len(words); i++ {
		if i < len(words) && strings.Trim(words[i], ";|&()<>\n") != "" {
			continue
		}
		if c := words[from:i]; len(c) > 0 && !asideRE.MatchString(c[min(programOf(c), len(c)-1)]) {
			list = append(list, c)
		}
		from = i + 1
	}
	return list
}

// HelpCommand is what prints a program's help: the words before its first option or file, and --help.
// It is empty where no program can be told.
func HelpCommand(argv []string) []string {
	if words := helpWords(argv); len(words) > 0 {
		return append(slices.Clone(words), "--help")
	}
	return nil
}

var subcommandRE = regexp.MustCompile(`^[a-z][a-z_-]*$`)

func helpWords(argv []string) []string {
	if len(argv) == 1 && strings.ContainsAny(argv[0], " \t\n") {
		argv = shellWordRE.FindAllString(argv[0], -1)
		of := commandsOf(argv)
		if len(of) == 0 || &of[0][0] != &argv[0] { // something comes before the program
			return nil
		}
		argv = of[0]
	}
	program := programOf(argv)
	if program >= len(argv) || scriptOf(argv) > 0 || !simpleRE.MatchString(argv[program]) {
		return nil
	}
	i := program + scriptAt(argv[program:]) + 1
	if i == program+1 && interpreterRE.MatchString(path.Base(argv[program])) {
		return nil // its code is in the command
	}
	for i < len(argv) && subcommandRE.MatchString(argv[i]) {
		i++
	}
	return argv[:i]
}
