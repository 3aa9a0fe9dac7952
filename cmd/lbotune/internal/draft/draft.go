// Package draft writes specs of what somebody has typed: of a command as it is run by hand, and
// of flags.
package draft

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/internal/spelling"
	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// NothingToVary is what a draft says of a command in which it finds no parameter.
const NothingToVary = "No option with a value to vary was found"

// Program is a program as somebody runs it by hand: what a first spec is made of.
type Program struct {
	Argv []string // the program with its arguments, or one string for the shell
	Help string   // what the program prints for --help; empty if it is not known
	// Files are the configuration files that the command may name, by the words that name them;
	// From is relative to the spec's directory.
	Files map[string]command.File
	Exit  int // how the program has ended
	// Rule says how the number to optimize is found: by its name, at a path in JSON or
	// as the last number. The zero Rule means the name "loss".
	Rule     parser.Rule
	Source   string // where it is printed: "stderr", or a file that the program has written, or empty
	Shared   string // a file that it has written where it was run, empty if there is none
	Maximize bool   // a larger value is better
	Remark   string // where the metric comes from; empty if it was not looked for
}

// TOML writes a commented spec: every option whose value looks like a hyperparameter
// becomes a parameter, with a range around today's value. spec.Parse accepts it, unless there is
// none: then NothingToVary stands in it. What is left as it is comes with the reason.
func (d Program) TOML() (text []byte, left []string) {
	g := guesser{help: d.Help, listed: readHelp(d.Help), files: d.Files, taken: map[string]bool{}}
	env, argv := command.Assignments(d.Argv)
	var line []string
	if len(argv) == 1 && len(d.Argv) == 1 && strings.ContainsAny(argv[0], " \t\n") {
		line = []string{g.shell(argv[0])}
	} else {
		line = g.arguments(argv)
	}
	for i, e := range env {
		env[i] = g.placeholders(e, command.Parse(e))
	}
	if len(g.found) == 0 {
		g.variables(env)
	}
	written := d.Source
	for i, word := range line { // each trial writes a file of its own
		if written != "" && len(line) > 1 && (word == written || strings.HasSuffix(word, "="+written)) {
			d.Source = "{trial_dir}/" + filepath.Base(written)
			line[i] = strings.TrimSuffix(word, written) + d.Source
		}
	}
	w := &writer{}
	w.line("# Written by lbotune init. Read it through, correct the guesses, and look at what\n"+
		"# would run: lbotune check, then lbotune check --smoke.\n\nname    = %s", quote(ProgramName(d.Argv)))
	w.command(line)
	if len(g.found) == 0 {
		w.line("\n# %s in the command. Write\n# a placeholder where a value goes, and its range into a table:", NothingToVary)
		w.line("#   command = [..., \"--lr={lr}\"]\n#   [params.lr]\n#   type = \"float\"\n#   min  = 0.001\n#   max  = 1")
	}
	if len(g.left) > 0 {
		w.line("\n# Left as they are:\n#   %s", strings.Join(g.left, "\n#   "))
	}
	d.objective(w)
	for _, f := range g.found {
		w.param(f.param, f.remark)
	}
	for _, f := range g.rendered {
		w.line("\n[[files]]\nfrom = %s\nset  = { %s }", quote(f.From), f.Settings())
	}
	w.line("\n[budget]\ntrials = %d   # about ten for each parameter, and ten more\n# time = \"2h\"", 10*(len(g.found)+1))
	w.line("\n[run]\nworkers = 1")
	if d.Shared != "" && (d.Shared != written || d.Source == written) {
		w.line("# isolate = true   # with more workers: else all trials write to one %s", comment(d.Shared))
	}
	w.line("# timeout = \"30m\"")
	w.env(env)
	return []byte(w.b.String()), g.left
}

func (d Program) objective(w *writer) {
	w.line("\n[objective]")
	w.line("# %s", cmp.Or(comment(d.Remark), `The name of the number as your program prints it: loss=0.3, loss: 0.3, "loss": 0.3.`))
	switch {
	case d.Rule.JSON != "":
		w.line("json      = %s", quote(d.Rule.JSON))
	case d.Rule.LastNumber:
		w.line("last_number = true")
	default:
		w.line("metric    = %s", quote(cmp.Or(d.Rule.Metric, "loss")))
	}
	if d.Source == "stderr" {
		w.line("source    = \"stderr\"")
	} else if d.Source != "" {
		w.line("file      = %s", quote(d.Source))
	}
	is, other := directions(d.Maximize)
	w.line("direction = %-11s # or %s", is, other)
	if d.Exit == 10 || d.Exit == 20 {
		w.line("ok_exit   = [0, 10, 20] # as solvers end that have an answer")
	} else if d.Exit != 0 {
		w.line("# ok_exit = [0, %d]   # the command ended so; without this it is a failure", d.Exit)
	}
}

var (
	interpreterRE = pattern.Lazy(`^(python|pypy|perl|ruby|node|bash|dash|zsh|sh|Rscript|julia|php|lua)[0-9.]*$`)
	inlineCodeRE  = pattern.Lazy(`^-[a-zA-Z]*[ceE]$`)
	suffixRE      = pattern.Lazy(`(?i)\.[a-z][a-z0-9]*$`) // no version, as in train-1.2
	noNameRE      = pattern.Lazy(`[^A-Za-z0-9_.+-]+`)
)

// ProgramName is what a study of a command line is called: its program without
// directory and suffix, or the script behind an interpreter.
func ProgramName(argv []string) string {
	if len(argv) == 1 { // a shell command
		argv = strings.Fields(argv[0])
	}
	if argv = argv[programOf(argv):]; len(argv) == 0 {
		return "study"
	}
	name := suffixRE().ReplaceAllString(filepath.Base(argv[scriptAt(argv)]), "")
	return cmp.Or(strings.Trim(noNameRE().ReplaceAllString(name, "-"), "-."), "study")
}

// scriptAt is the place of a program, or of the script or the module of an interpreter that is given one.
func scriptAt(argv []string) int {
	if interpreterRE().MatchString(filepath.Base(argv[0])) {
		for i, a := range argv[1:] {
			switch {
			case a == "-m" && i+2 < len(argv):
				return i + 2
			case inlineCodeRE().MatchString(a):
				return 0
			case !strings.HasPrefix(a, "-"):
				return i + 1
			}
		}
	}
	return 0
}

// writer builds the text of a spec. It writes what Parse reads.
type writer struct{ b strings.Builder }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format+"\n", args...)
}

func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// limits writes a number and a duration, those that are set.
func (w *writer) limits(width int, count string, n int, span string, d study.Duration) {
	if n > 0 {
		w.line("%-*s = %d", width, count, n)
	}
	if d > 0 {
		w.line("%-*s = %s", width, span, quote(time.Duration(d).String()))
	}
}

// directions is which values are better, and the other way round.
func directions(maximize bool) (is, other string) {
	if maximize {
		return quote(string(study.Maximize)), quote(string(study.Minimize))
	}
	return quote(string(study.Minimize)), quote(string(study.Maximize))
}

// quote writes a TOML basic string.
func quote(s string) string { return command.Literal(spaces.String(s)) }

func array[T any](list []T, literal func(T) string) string {
	return "[" + strings.Join(lists.Map(list, literal), ", ") + "]"
}

// number writes a bound so that floats stay floats and read easily.
func number(x float64, kind spaces.Kind) string {
	if kind == spaces.KindInt {
		return strconv.FormatInt(int64(x), 10)
	}
	return spaces.Float(x).Text()
}

// param writes [params.NAME], with an optional remark above its range.
func (w *writer) param(p spaces.Param, remark string) {
	w.line("\n[params.%s]", p.Name)
	if remark != "" {
		w.line("# %s", comment(remark))
	}
	keys := [][2]string{{"type", quote(string(p.Kind))}}
	switch p.Kind {
	case spaces.KindChoice:
		keys = append(keys, [2]string{"choices", array(p.Choices, command.Literal)})
	case spaces.KindFloat, spaces.KindInt:
		keys = append(keys, [2]string{"min", number(p.Min, p.Kind)}, [2]string{"max", number(p.Max, p.Kind)})
		if p.Scale != "" && p.Scale != spaces.Linear {
			keys = append(keys, [2]string{"scale", quote(string(p.Scale))})
		}
	}
	switch x, isNumber := p.Default.Number(); {
	case isNumber && (p.Kind == spaces.KindFloat || p.Kind == spaces.KindInt):
		keys = append(keys, [2]string{"default", number(x, p.Kind)})
	case p.Default.IsValid():
		keys = append(keys, [2]string{"default", command.Literal(p.Default)})
	}
	longest := slices.MaxFunc(keys, func(a, b [2]string) int { return len(a[0]) - len(b[0]) })
	for _, k := range keys {
		w.line("%-*s = %s", len(longest[0]), k[0], k[1])
	}
}

// env writes the environment of [run], NAME=value each.
func (w *writer) env(env []string) {
	if len(env) > 0 {
		w.line("%s", command.EnvironmentKey(env))
	}
}

// command writes a program with its arguments, or a shell command line if it
// is one string with blanks.
func (w *writer) command(argv []string) {
	line := array(argv, quote)
	if len(argv) == 1 && strings.ContainsAny(argv[0], " \t\n") {
		line = quote(argv[0])
	}
	w.line("command = %s", line)
}

// Inline is a study described by command-line flags instead of a file.
type Inline struct {
	Name string
	// Params are written as NAME=FORM, where FORM is float:MIN:MAX, log:MIN:MAX (a float on a
	// log scale), int:MIN:MAX, logint:MIN:MAX, choice:A,B,... or bool.
	Params   []string
	Metric   string // name of the metric; empty: the last number printed
	Maximize bool
	Trials   int
	Time     study.Duration
	Workers  int
	Timeout  study.Duration
	Seed     uint64
	// Command is a program and its arguments with placeholders, or one string
	// with blanks for /bin/sh.
	Command []string
}

// TOML writes the study as a spec, so that flags and files go one way.
func (in Inline) TOML() ([]byte, error) {
	var params []spaces.Param
	var errs []error
	for _, text := range in.Params {
		p, err := parseParam(text)
		errs = append(errs, err)
		if slices.ContainsFunc(params, func(q spaces.Param) bool { return q.Name == p.Name }) {
			errs = append(errs, fmt.Errorf("there are two parameters %s", p.Name))
		}
		params = append(params, p)
	}
	if len(in.Command) == 0 {
		errs = append(errs, errors.New("there is no command: write it after --, as in lbotune run -p lr=log:1e-5:1 -- ./train --lr={lr}"))
	}
	if len(params) == 0 {
		errs = append(errs, errors.New("there is no parameter: add -p NAME=KIND:..., for example -p lr=log:1e-5:1"))
	}
	if in.Trials <= 0 && in.Time == 0 {
		errs = append(errs, errors.New("the study would never stop: add -n N for a number of trials, or --time DURATION"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	w := &writer{}
	if in.Name != "" {
		w.line("name    = %s", quote(in.Name))
	}
	if in.Seed != 0 {
		w.line("seed    = %d", in.Seed)
	}
	env, argv := command.Assignments(in.Command)
	w.command(argv)
	w.line("\n[objective]")
	if in.Metric == "" {
		w.line("last_number = true")
	} else {
		w.line("metric      = %s", quote(in.Metric))
	}
	is, _ := directions(in.Maximize)
	w.line("direction   = %s", is)
	for _, p := range params {
		w.param(p, "")
	}
	w.line("\n[budget]")
	w.limits(6, "trials", in.Trials, "time", in.Time)
	if in.Workers > 0 || in.Timeout > 0 || len(env) > 0 {
		w.line("\n[run]")
		w.limits(7, "workers", in.Workers, "timeout", in.Timeout)
		w.env(env)
	}
	return []byte(w.b.String()), nil
}

// paramForms are the ways to write a parameter as a flag.
const paramForms = "float:MIN:MAX, log:MIN:MAX, int:MIN:MAX, logint:MIN:MAX, choice:A,B,..., bool"

// parseParam reads a parameter that is written as Inline.Params says.
func parseParam(text string) (spaces.Param, error) {
	name, form, ok := strings.Cut(text, "=")
	kind, rest, _ := strings.Cut(form, ":")
	p := spaces.Param{Name: name}
	if !ok {
		return p, fmt.Errorf("parameter %q: want NAME=FORM, where FORM is one of %s", text, paramForms)
	}
	switch kind {
	case "float", "log", "int", "logint":
		p.Kind = spaces.KindFloat
		if strings.HasSuffix(kind, "int") {
			p.Kind = spaces.KindInt
		}
		if strings.HasPrefix(kind, "log") {
			p.Scale = spaces.Log
		}
		lo, hi, ok := strings.Cut(rest, ":")
		var err1, err2 error
		p.Min, err1 = strconv.ParseFloat(lo, 64)
		p.Max, err2 = strconv.ParseFloat(hi, 64)
		if !ok || err1 != nil || err2 != nil {
			return p, fmt.Errorf("parameter %q: want %s=%s:MIN:MAX with two numbers", text, name, kind)
		}
	case "choice":
		p.Kind = spaces.KindChoice
		p.Choices = lists.Map(strings.Split(rest, ","), func(s string) spaces.Value { return choiceValue(strings.TrimSpace(s)) })
	case "bool":
		if p.Kind = spaces.KindBool; rest != "" {
			return p, fmt.Errorf("parameter %q: found %q after bool, which takes nothing", text, rest)
		}
	default:
		near := spelling.DidYouMean(kind, []string{"float", "log", "int", "logint", "choice", "bool"})
		return p, errors.New(strings.TrimSuffix(fmt.Sprintf("parameter %q: %q is not a kind; want one of %s; %s", text, kind, paramForms, near), "; "))
	}
	return p, errors.Join(lists.Map(p.Check(), func(wrong spaces.Problem) error { return wrong })...)
}

// choiceValue keeps numbers as numbers, for programs that read {params_json}.
func choiceValue(s string) spaces.Value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && spaces.Int(n).Text() == s {
		return spaces.Int(n)
	}
	if x, err := strconv.ParseFloat(s, 64); err == nil && spaces.Float(x).Text() == s {
		return spaces.Float(x)
	}
	return spaces.String(s)
}
