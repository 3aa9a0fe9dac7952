package draft

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
)

// guess is a parameter that an option of a command line may be.
type guess struct {
	param  spaces.Param
	remark string
}

// guesser reads the options of one command line.
type guesser struct {
	help     string
	listed   []*helped // what --help says
	files    map[string]command.File
	found    []guess
	rendered []command.File // the files that have values set
	left     []string       // what was left alone, and why
	taken    map[string]bool
	as       string // an option as it is written, if it is in the command
	origin   string // where it is from if not
}

// placeholders makes parameters of the placeholders among the parts of a text where a value may stand, and
// plain text of the others.
func (g *guesser) placeholders(text string, parts []command.Part) string {
	var out strings.Builder
	at := 0
	for _, part := range parts {
		if !part.IsPlaceholder() || !part.Flag && command.Reserved(part.Name) {
			continue
		}
		out.WriteString(text[at:part.Start])
		at = part.End
		p := spaces.Param{Name: part.Name, Kind: spaces.KindFloat, Min: 1e-5, Max: 1, Scale: spaces.Log}
		if part.Flag {
			p = spaces.Param{Name: part.Name, Kind: spaces.KindBool}
		}
		if part.Context == command.InWord {
			g.add(p, "named in the command: give it its range")
		}
		made := slices.ContainsFunc(g.found, func(f guess) bool { return f.param.Name == p.Name && f.param.Kind == p.Kind })
		if part.Context == command.InWord && made {
			out.WriteString(part.Text)
		} else {
			out.WriteString("{" + part.Text + "}")
		}
	}
	return out.String() + text[at:]
}

// assignedRE is an option in the style of Hydra: model.dropout=0.3.
var assignedRE = pattern.Lazy(`^[+~]{0,2}[A-Za-z_][\w.@/-]*$`)

// arguments returns the command with placeholders for what was guessed.
func (g *guesser) arguments(argv []string) []string {
	out := slices.Clone(argv)
	script := scriptOf(argv)
	for i, a := range argv {
		if script == 0 || i != script {
			out[i] = g.placeholders(a, command.Parse(a))
		}
	}
	if script > 0 {
		out[script] = g.shell(argv[script])
		return out
	}
	g.words(out)
	program := programOf(out)
	if len(g.found) == 0 {
		g.positional(out[program:])
	}
	if n := len(helpWords(argv)); n > 0 && len(g.found) == 0 {
		out = slices.Insert(out, n, g.fromHelp()...)
	}
	if len(g.found) == 0 {
		g.variables(out[:program])
	}
	return out
}

var (
	compilerRE = pattern.Lazy(`^([\w-]+-)?(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|gfortran)(-[\d.]+)?$`)
	toggleRE   = pattern.Lazy(`^-f(no-)?([a-z][\w-]*)$`)   // of a compiler
	numberRE   = pattern.Lazy(`^(-[A-Za-z]?)(\d+\.?\d*)$`) // -O2, and -6 of xz
	levelsRE   = pattern.Lazy(`(?m)^\s*-(#|\d)`)           // in what --help prints
	settingRE  = pattern.Lazy(`^([\w.-]+)=([^=,]+)$`)      // --param=a=1
)

// words makes placeholders of what was guessed among the words of one command, in their places.
func (g *guesser) words(words []string) {
	program := programOf(words)
	if program == len(words) {
		return
	}
	base := path.Base(words[program])
	compiler, runs := compilerRE().MatchString(base), program+scriptAt(words[program:]) // a script, by an interpreter
	if runs == program && interpreterRE().MatchString(base) {
		runs += 2 + slices.IndexFunc(words[program+1:], inlineCodeRE().MatchString)
	}
	for i := program + 1; i < len(words); i++ {
		a, next := words[i], ""
		if i+1 < len(words) && (!strings.HasPrefix(words[i+1], "-") || isNumber(words[i+1])) {
			next = words[i+1]
		}
		flag, value, assigned := strings.Cut(a, "=")
		g.as = a
		toggle, number := toggleRE().FindStringSubmatch(a), numberRE().FindStringSubmatch(a)
		switch {
		case compiler && toggle != nil:
			p := spaces.Param{Name: nameOf(toggle[2]), Kind: spaces.KindBool, Default: spaces.Bool(toggle[1] == "")}
			if g.add(p, "from "+a) {
				words[i] = fmt.Sprintf("{flag:%s=-f%s|-fno-%[2]s}", p.Name, toggle[2])
			}
		case number != nil && (number[1] == "-" && levelsRE().MatchString(g.help) || len(number[1]) == 2 && (!compiler || number[1] == "-O")):
			name, h := number[1], g.of(number[1])
			if x, _ := strconv.ParseFloat(number[2], 64); name == "-" {
				name, h = "level", &helped{lo: min(x, 1), hi: max(x, 9), whole: true}
			} else if compiler {
				h = &helped{lo: 0, hi: max(x, 3), whole: true}
			}
			if name, ok := g.known(name, number[2], h); ok {
				words[i] = number[1] + "{" + name + "}"
			}
		case assigned && (strings.HasPrefix(a, "-") || assignedRE().MatchString(flag)):
			of := flag
			if m := settingRE().FindStringSubmatch(value); m != nil {
				of, flag, value = m[1], flag+"="+m[1], m[2]
			}
			if again(flag, words[i+1:]) {
				g.leave(a, givenAgain)
			} else if name, ok := g.option(of, value); ok {
				words[i] = flag + "={" + name + "}"
			}
		case i+1 == runs && next != "" && !isNumber(next): // it is no value of the option
		case strings.HasPrefix(a, "-") && next != "" && !settingRE().MatchString(next):
			g.as += " " + next
			if again(a, words[i+1:]) {
				g.leave(g.as, givenAgain)
				continue
			}
			name, ok := g.option(a, next)
			several := strings.HasSuffix(a, "s")
			for n := 2; ok; n++ { // --betas 0.9 0.999
				i++
				words[i] = "{" + name + "}"
				if i+1 == len(words) || !several || !isNumber(words[i+1]) {
					break
				}
				name, ok = g.known(fmt.Sprintf("%s_%d", a, n), words[i+1], g.of(a))
			}
			if more := values(words[i+1:]); ok && !several && len(more) > 0 {
				g.leave(strings.Join(more, " "), "behind the value of "+comment(a)+"; {NAME} in its place makes it a parameter")
			}
		case strings.HasPrefix(a, "-") && strings.Trim(a, "-") != "" && !isNumber(a) && simpleRE().MatchString(a) && next == "":
			g.leave(a, "a switch; {flag:NAME="+a+"} in its place makes it a parameter")
		}
	}
	g.as = ""
	for i := program + 1; i < len(words); i++ {
		value := words[i][strings.Index(words[i], "=")+1:]
		if _, known := g.files[value]; known && g.settings(value) {
			words[i] = strings.TrimSuffix(words[i], value) + "{trial_dir}/" + path.Base(value)
		}
	}
}

// values are the numbers that words begin with, none of which could be an option.
func values(words []string) []string {
	n := slices.IndexFunc(words, func(w string) bool { return !isNumber(w) || strings.HasPrefix(w, "-") })
	if n < 0 {
		n = len(words)
	}
	return words[:n]
}

const givenAgain = "given again further on, where it may count alone"

func again(flag string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w == flag || strings.HasPrefix(w, flag+"=") })
}

// settings makes parameters of the numbers in a configuration file, and reports whether there are
// any: then each trial has a file with its own.
func (g *guesser) settings(name string) bool {
	f := g.files[name]
	for _, r := range g.rendered {
		if r.From == f.From {
			return true
		}
		if path.Base(r.From) == path.Base(f.From) {
			g.leave(name, "a file of this name is among those of a trial already")
			return false
		}
	}
	numbers := f.Numbers()
	if len(numbers) > mostNumbers {
		g.leave(name, fmt.Sprintf("%d numbers are more likely data than settings", len(numbers)))
		return false
	}
	for _, s := range numbers {
		if param, ok := g.known(s.Path, command.Literal(s.Value), &helped{lo: math.Inf(-1), hi: math.Inf(1), typed: true}); ok {
			f.Set = append(f.Set, command.Setting{Path: s.Path, Value: spaces.String("{" + param + "}")})
		}
	}
	if len(f.Set) > 0 {
		g.rendered = append(g.rendered, f)
	}
	return len(f.Set) > 0
}

// mostNumbers is how many numbers a configuration file may have, and mostOfHelp how many options
// are taken from --help.
const mostNumbers, mostOfHelp = 60, 12

// fromHelp returns options that the command does not have, with the defaults that --help tells.
func (g *guesser) fromHelp() (more []string) {
	g.origin = "--help: "
	defer func() { g.origin = "" }()
	for _, h := range g.listed {
		flag := h.flags[len(h.flags)-1]
		if h.standard == "" || len(more) == mostOfHelp {
			continue
		}
		if name, ok := g.option(flag, h.standard); !ok {
			continue
		} else if strings.HasPrefix(flag, "--") || strings.HasPrefix(h.text, "=") {
			more = append(more, flag+"={"+name+"}")
		} else {
			more = append(more, flag, "{"+name+"}")
		}
	}
	return more
}

// fixedVariables are environment variables that change no result.
var fixedVariables = pattern.Lazy(`^(PYTHON|OMP_|MKL_|KMP_|OPENBLAS|NUMEXPR|CUDA|NCCL|TF_|TORCH|XLA|JAX|HF_|TOKENIZERS|WANDB|SLURM|LC_|LD_|LANG|MALLOC|GO|RAYON|JAVA)`)

// variables makes parameters of the numbers that environment variables are set to.
func (g *guesser) variables(words []string) {
	for i, w := range words {
		name, value, assigned := strings.Cut(w, "=")
		if assigned && !strings.HasPrefix(name, "-") && !fixedVariables().MatchString(name) {
			if param, ok := g.option(name, value); ok {
				words[i] = name + "={" + param + "}"
			}
		}
	}
}

// positional makes parameters of the numbers that stand alone, as in ./train 0.01 3.
func (g *guesser) positional(argv []string) {
	for i := 1; i < len(argv); i++ {
		if before := argv[i-1]; !isNumber(argv[i]) || before != "--" && strings.HasPrefix(before, "-") && !isNumber(before) {
			continue // an option's value, which was left alone
		}
		if name, ok := g.option(fmt.Sprintf("arg%d", len(g.found)+1), argv[i]); ok {
			argv[i] = "{" + name + "}"
		}
	}
}

var notInNames = pattern.Lazy(`\W+`)

func nameOf(flag string) string { return strings.Trim(notInNames().ReplaceAllString(flag, "_"), "_") }

// option guesses a parameter from an option and its value.
func (g *guesser) option(flag, value string) (string, bool) { return g.known(flag, value, g.of(flag)) }

// of is what --help says of an option, or nothing.
func (g *guesser) of(flag string) *helped {
	for _, h := range g.listed {
		if slices.Contains(h.flags, flag) {
			return h
		}
	}
	return &helped{lo: math.Inf(-1), hi: math.Inf(1)}
}

// known guesses a parameter from an option, its value, and what is known of it.
func (g *guesser) known(flag, value string, h *helped) (string, bool) {
	name := nameOf(flag)
	why := leftAlone(flag, value, h)
	if command.Reserved(name) {
		name += "_value"
	}
	quoted := strings.ContainsAny(value, "'\"`$\\")
	if name == "" || strings.Contains(strings.ReplaceAll(value, "${", ""), "{") || quoted && g.origin != "" {
		return "", false // a placeholder, or a default of another language
	}
	p := spaces.Param{Name: name}
	x, number := numberOf(value)
	switch {
	case quoted:
		why = cmp.Or(why, "no plain value; {NAME} in its place, with its range or choices, makes it a parameter")
	case number && g.taken[strings.ToUpper(name)]:
		why = "another parameter has its name"
	case number && !(h.exact && slices.Contains(h.choices, value)):
		if why == "" && !guessRange(&p, x, value, h) {
			why = "no range can be told from this value"
		}
		if p.Default = spaces.Float(x); p.Kind == spaces.KindInt {
			p.Default = spaces.Int(int64(x))
		}
	case slices.Contains(h.choices, value) && why == "" && !wordNames().MatchString(name):
		p.Kind, p.Choices, p.Default = spaces.KindChoice, lists.Map(h.choices, choiceValue), choiceValue(value)
	case g.files[value].From != "" || g.origin != "":
		return "", false
	case fileRE().MatchString(value):
		why = "names a file"
	case why == "":
		why = "no number; {NAME} in its place, with its choices, makes it a parameter"
	}
	if why != "" {
		g.leave(cmp.Or(g.as, g.origin+flag+" "+value), why)
		return "", false
	}
	return name, g.add(p, fmt.Sprintf("from %s%s %s", g.origin, flag, value))
}

// add makes a parameter, unless there is one of its name.
func (g *guesser) add(p spaces.Param, remark string) bool {
	name := strings.ToUpper(p.Name)
	if g.taken[name] || len(p.Check()) > 0 {
		return false
	}
	g.taken[name] = true
	g.found = append(g.found, guess{p, remark})
	return true
}

// leave notes what stays as it is, and why.
func (g *guesser) leave(what, why string) { g.left = append(g.left, comment(what)+": "+why) }

// numberOf reads a word that is a finite number, by the rules for what programs print.
func numberOf(word string) (x float64, ok bool) {
	x, ok = parser.ParseNumber(word)
	return x, ok && !math.IsInf(x, 0) && !math.IsNaN(x)
}

func isNumber(word string) bool {
	_, ok := numberOf(word)
	return ok
}
