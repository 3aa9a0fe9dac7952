package spec

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/spaces"
)

// Guess writes a commented spec for a command line as somebody runs it by
// hand: every option with a number becomes a parameter whose range is guessed
// from its name and value.
func Guess(argv []string) []byte {
	g := guesser{taken: map[string]bool{}}
	var command []string
	if len(argv) == 1 {
		command = []string{g.shell(argv[0])}
	} else {
		command = g.arguments(argv)
	}
	w := &writer{}
	w.line("# Written by lbotune init. Read it through, mend the guesses, and look at what")
	w.line("# would run with: lbotune check, then lbotune check --smoke.")
	w.line("\nname    = %s", quote(ProgramName(argv)))
	w.command(command)
	w.line("\n[objective]")
	w.line("# The name of the number as your program prints it: loss=0.3, loss: 0.3, \"loss\": 0.3.")
	w.line("metric    = \"loss\"")
	w.line("direction = \"minimize\"   # or \"maximize\"")
	for _, f := range g.found {
		w.param(f.param, f.remark)
	}
	if len(g.found) == 0 {
		w.line("\n# No option with a number was found in the command. Write {lr} into the command")
		w.line("# where the value goes.")
		w.param(spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 1e-5, Max: 1, Scale: spaces.Log}, "")
	}
	w.line("\n[budget]")
	w.line("trials = %d   # about ten for each parameter, and ten more", 10*(len(g.found)+1))
	w.line("# time = \"2h\"")
	w.line("\n[run]")
	w.line("workers = 1")
	w.line("# timeout = \"30m\"")
	return []byte(w.b.String())
}

var (
	interpreterRE = regexp.MustCompile(`^(python|pypy|perl|ruby|node|bash|dash|zsh|sh|Rscript|julia|php|lua)[0-9.]*$`)
	inlineCodeRE  = regexp.MustCompile(`^-[a-zA-Z]*[ceE]$`)
	assignmentRE  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	suffixRE      = regexp.MustCompile(`(?i)\.[a-z][a-z0-9]*$`) // no version, as in train-1.2
	noNameRE      = regexp.MustCompile(`[^A-Za-z0-9_.+-]+`)
)

// ProgramName is what a study of a command line is called: its program without
// directory and suffix, or the script behind an interpreter.
func ProgramName(argv []string) string {
	if len(argv) == 1 { // a shell command
		argv = strings.Fields(argv[0])
	}
	for len(argv) > 1 && (assignmentRE.MatchString(argv[0]) || argv[0] == "env" || argv[0] == "exec") {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return "study"
	}
	name := suffixRE.ReplaceAllString(filepath.Base(program(argv)), "")
	name = strings.Trim(noNameRE.ReplaceAllString(name, "-"), "-.")
	if name == "" {
		return "study"
	}
	return name
}

// program is the program of a command line, or the script of an interpreter that
// is given one.
func program(argv []string) string {
	if !interpreterRE.MatchString(filepath.Base(argv[0])) {
		return argv[0]
	}
	for _, a := range argv[1:] {
		if inlineCodeRE.MatchString(a) {
			break
		}
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return argv[0]
}

type guess struct {
	param  spaces.Param
	remark string
}

type guesser struct {
	found []guess
	taken map[string]bool
}

// arguments returns the command with placeholders for what was guessed.
func (g *guesser) arguments(argv []string) []string {
	out := slices.Clone(argv)
	for i := 0; i < len(out); i++ {
		a := out[i]
		if !strings.HasPrefix(a, "-") {
			continue
		}
		if flag, value, ok := strings.Cut(a, "="); ok {
			if name, ok := g.option(flag, value); ok {
				out[i] = flag + "={" + name + "}"
			}
			continue
		}
		if i+1 < len(out) {
			if name, ok := g.option(a, out[i+1]); ok {
				i++
				out[i] = "{" + name + "}"
			}
		}
	}
	return out
}

// shellOptionRE is an option with a number in a shell command.
var shellOptionRE = regexp.MustCompile(`(?:^|\s)(--?[A-Za-z][\w.-]*)(?:=|[ \t]+)([-+]?\.?[0-9][-+0-9.eE]*)(?:$|[\s;|&)])`)

// shell returns a shell command with placeholders for what was guessed.
func (g *guesser) shell(line string) string {
	var out strings.Builder
	for {
		m := shellOptionRE.FindStringSubmatchIndex(line)
		if m == nil {
			return out.String() + line
		}
		from, to := m[4], m[5]
		if name, ok := g.option(line[m[2]:m[3]], line[from:to]); ok {
			out.WriteString(line[:from] + "{" + name + "}")
		} else {
			out.WriteString(line[:to])
		}
		line = line[to:]
	}
}

// fixedNames are options whose numbers are no hyperparameters.
var fixedNames = regexp.MustCompile(`(?i)^(seed|random_state|gpu|gpus|device|port|rank|local_rank|workers|num_workers|threads|n_jobs|jobs|verbose|log_interval|print_freq|save_every|v|j|cv|folds)$`)

// option guesses a parameter from an option and its value.
func (g *guesser) option(flag, value string) (string, bool) {
	name := strings.ReplaceAll(strings.TrimLeft(flag, "-"), "-", "_")
	name = strings.ReplaceAll(name, ".", "_")
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || fixedNames.MatchString(name) {
		return "", false
	}
	if isReserved(name) {
		name += "_value"
	}
	if g.taken[strings.ToUpper(name)] {
		return "", false
	}
	p := spaces.Param{Name: name, Kind: spaces.KindFloat}
	_, err = strconv.ParseInt(value, 10, 64)
	whole := err == nil && !strings.HasPrefix(value, "+")
	if whole && !realNames.MatchString(name) || x == math.Trunc(x) && countNames.MatchString(name) {
		p.Kind = spaces.KindInt
	}
	guessRange(&p, x)
	if len(p.Check()) > 0 {
		return "", false
	}
	g.taken[strings.ToUpper(name)] = true
	g.found = append(g.found, guess{p, fmt.Sprintf("guessed from %s %s", flag, value)})
	return name, true
}

// The names of options tell what their numbers are: between 0 and 1, real although
// written as whole numbers, whole, or sizes, which grow by factors.
var (
	unitNames  = regexp.MustCompile(`(?i)(dropout|momentum|beta_?[12]|subsample|colsample|fraction|ratio|prob|alpha$|gamma$|rho)`)
	realNames  = regexp.MustCompile(`(?i)^(c|g|cost|gamma|lambda|reg|reg_lambda|reg_alpha|l1|l2|alpha|eta|lr|learning_rate|weight_decay|tol|eps|epsilon|temperature)$`)
	countNames = regexp.MustCompile(`(?i)(steps|iter|iters|iterations|epochs|rounds|batch|layers|depth|size|estimators|trees|leaves|units|hidden|width)`)
	sizeNames  = regexp.MustCompile(`(?i)(batch|hidden|width|units|dim|size|channels|estimators|trees|leaves|rank)`)
)

// guessRange sets the range and scale of p around the value x that somebody
// uses today.
func guessRange(p *spaces.Param, x float64) {
	switch {
	case p.Kind == spaces.KindInt && x >= 1 && sizeNames.MatchString(p.Name):
		p.Min, p.Max, p.Scale = math.Max(1, math.Floor(x/8)), x*8, spaces.Log
	case p.Kind == spaces.KindInt && x >= 1:
		p.Min, p.Max = math.Max(1, math.Floor(x/4)), math.Max(x*3, x+2)
	case p.Kind == spaces.KindInt:
		p.Min, p.Max = x-5, x+5
	case unitNames.MatchString(p.Name) && x >= 0 && x <= 1:
		p.Min, p.Max = 0, 1
		if x < 1 {
			p.Max = 0.99
		}
	case x > 0:
		p.Min, p.Max, p.Scale = roundTo1(x/100), roundTo1(x*100), spaces.Log
	case x < 0:
		p.Min, p.Max = roundTo1(x*10), 0
	default:
		p.Min, p.Max = 0, 1
	}
}

// roundTo1 rounds to one significant digit.
func roundTo1(x float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 0, 64), 64)
	if err != nil {
		return x
	}
	return r
}
