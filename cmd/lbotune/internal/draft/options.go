package draft

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// guess is a parameter that an option of a command line may be.
type guess struct {
	param  spaces.Param
	remark string
}

// guesser reads the options of one command line.
type guesser struct {
	choices map[string][]string // the words that --help lists, by option
	without []string            // parameters not to make
	found   []guess
	left    []string // what was left alone, and why
	taken   map[string]bool
}

// placeholders makes parameters of the placeholders that a text has, or else plain text.
func (g *guesser) placeholders(text string) string {
	var out strings.Builder
	at := 0
	for _, part := range command.Parse(text) {
		if !part.IsPlaceholder() || !part.Flag && study.ReservedName(part.Name) {
			continue
		}
		out.WriteString(text[at:part.Start])
		at = part.End
		p := spaces.Param{Name: part.Name, Kind: spaces.KindFloat, Min: 1e-5, Max: 1, Scale: spaces.Log}
		if part.Flag {
			p = spaces.Param{Name: part.Name, Kind: spaces.KindBool}
		}
		if name := strings.ToUpper(p.Name); !slices.Contains(g.without, p.Name) && !g.taken[name] && len(p.Check()) == 0 {
			g.taken[name] = true
			g.found = append(g.found, guess{p, "named in the command: give it its range"})
		}
		if g.taken[strings.ToUpper(p.Name)] {
			out.WriteString(part.Text)
		} else {
			out.WriteString("{" + part.Text + "}")
		}
	}
	return out.String() + text[at:]
}

// assignedRE is an option in the style of Hydra: model.dropout=0.3.
var assignedRE = regexp.MustCompile(`^[+~]{0,2}[A-Za-z_][\w.@/]*$`)

// arguments returns the command with placeholders for what was guessed.
func (g *guesser) arguments(argv []string) []string {
	out := slices.Clone(argv)
	script := scriptOf(argv)
	for i, a := range argv {
		if i != script {
			out[i] = g.placeholders(a)
		}
	}
	if script > 0 {
		out[script] = g.shell(argv[script])
		return out
	}
	program := programOf(out)
	for i := program + 1; i < len(out); i++ {
		a := out[i]
		flag, value, assigned := strings.Cut(a, "=")
		switch {
		case assigned && (strings.HasPrefix(a, "-") || assignedRE.MatchString(flag)):
			if name, ok := g.option(flag, value); ok {
				out[i] = flag + "={" + name + "}"
			}
		case strings.HasPrefix(a, "-") && i+1 < len(out):
			if name, ok := g.option(a, out[i+1]); ok {
				i++
				out[i] = "{" + name + "}"
			}
		}
	}
	program = min(program, len(out))
	if len(g.found) == 0 {
		g.positional(out[program:])
	}
	if len(g.found) == 0 {
		for i, a := range out[:program] {
			out[i] = g.variable(a)
		}
	}
	return out
}

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

// fixedVariables are environment variables that change no result.
var fixedVariables = regexp.MustCompile(`^(PYTHON|OMP_|MKL_|KMP_|OPENBLAS|NUMEXPR|CUDA|NCCL|TF_|TORCH|XLA|JAX|HF_|TOKENIZERS|WANDB|SLURM|LC_|LD_|LANG|MALLOC|GO|RAYON|JAVA)`)

// variable makes a parameter of the number that an environment variable is set to.
func (g *guesser) variable(assignment string) string {
	name, value, assigned := strings.Cut(assignment, "=")
	if assigned && !strings.HasPrefix(name, "-") && !fixedVariables.MatchString(name) {
		if param, ok := g.option(name, value); ok {
			return name + "={" + param + "}"
		}
	}
	return assignment
}

// positional makes parameters of the numbers that stand alone, as in ./train 0.01 3.
func (g *guesser) positional(argv []string) {
	for i := 1; i < len(argv); i++ {
		if strings.HasPrefix(argv[i-1], "-") {
			continue // its value, which was left alone
		}
		if name, ok := g.option(fmt.Sprintf("arg%d", len(g.found)+1), argv[i]); ok {
			argv[i] = "{" + name + "}"
		}
	}
}

// shellOptionRE is an option with its value in a shell command, both without quotes.
var shellOptionRE = regexp.MustCompile(`(?:^|\s)(--?[A-Za-z][\w.-]*(?:=|[ \t]+)|[+~]{0,2}[A-Za-z_][\w.@/]*=)([-+]?[\w.+-]+)(?:$|[\s;|&)])`)

// environmentRE are the variables that a shell command sets for its program.
var environmentRE = regexp.MustCompile(`^\s*(?:[A-Za-z_]\w*=\S*\s+)*`)

// filterRE is where a shell command hands its output to a filter, whose options are its own.
var filterRE = regexp.MustCompile(`\|\s*(awk|cut|egrep|fgrep|grep|head|sed|sort|tail|tee|tr|uniq|wc|xargs)\b`)

var shellWordRE = regexp.MustCompile(`\S+`)

// shell returns a shell command with placeholders for what was guessed.
func (g *guesser) shell(line string) string {
	line = g.placeholders(line)
	var out strings.Builder
	variables := environmentRE.FindString(line)
	line = line[len(variables):]
	filters := ""
	if m := filterRE.FindStringIndex(line); m != nil {
		line, filters = line[:m[0]], line[m[0]:]
	}
	for {
		m := shellOptionRE.FindStringSubmatchIndex(line)
		if m == nil {
			if len(g.found) == 0 {
				variables = shellWordRE.ReplaceAllStringFunc(variables, g.variable)
			}
			return variables + out.String() + line + filters
		}
		from, to := m[4], m[5]
		if name, ok := g.option(strings.TrimRight(line[m[2]:m[3]], "= \t"), line[from:to]); ok {
			out.WriteString(line[:from] + "{" + name + "}")
		} else {
			out.WriteString(line[:from])
			to = from // the value may be an option itself
		}
		line = line[to:]
	}
}

var notInNames = regexp.MustCompile(`\W+`)

// option guesses a parameter from an option and its value.
func (g *guesser) option(flag, value string) (string, bool) {
	name := strings.Trim(notInNames.ReplaceAllString(flag, "_"), "_")
	why := leftAlone(name)
	if study.ReservedName(name) {
		name += "_value"
	}
	if name == "" || g.taken[strings.ToUpper(name)] || slices.Contains(g.without, name) {
		return "", false
	}
	p := spaces.Param{Name: name}
	x, err := strconv.ParseFloat(value, 64)
	switch {
	case err == nil && !math.IsInf(x, 0) && !math.IsNaN(x):
		if why == "" && !guessRange(&p, x, value) {
			why = "no range can be told from this value"
		}
		if why != "" {
			g.left = append(g.left, fmt.Sprintf("%s %s: %s", flag, value, why))
			return "", false
		}
		if p.Default = spaces.Float(x); p.Kind == spaces.KindInt {
			p.Default = spaces.Int(int64(x))
		}
	case slices.Contains(g.choices[flag], value) && why == "" && !wordNames.MatchString(name):
		p.Kind = spaces.KindChoice
		for _, word := range g.choices[flag] {
			p.Choices = append(p.Choices, spaces.String(word))
		}
		p.Default = spaces.String(value)
	default:
		return "", false
	}
	if len(p.Check()) > 0 {
		return "", false
	}
	g.taken[strings.ToUpper(name)] = true
	g.found = append(g.found, guess{p, fmt.Sprintf("from %s %s", flag, value)})
	return name, true
}

// Options that are no hyperparameters, whatever their values, by their names.
var fixedOptions = []struct {
	names *regexp.Regexp
	why   string
}{
	{regexp.MustCompile(`(?i)(^|_)(seed|random_state|random_seed)$`), "chance"},
	{regexp.MustCompile(`(?i)(^|_)(epochs?|(max|num|n|total|train|training)_?(steps|iters?|iterations|updates|timesteps)|iters?|iterations|steps|time_?limit|tm_?lim|timeout|budget|max_?time)$`), "how long it runs; more is rarely worse and costs time"},
	{regexp.MustCompile(`(?i)(^|_)(gpus?|device|devices|cuda|port|host|rank|local_rank|world_size|workers|num_workers|n_workers|threads?|num_threads|nthreads|n?procs?(_per_\w+)?|(num_|n_)?processes|(num_|n_)?machines|nnodes|n_jobs|num_jobs|jobs|j|cores|nodes|memory)$`), "of the machine"},
	{regexp.MustCompile(`(?i)(^|_)(verbose|verbosity|v|debug|log\w*|print\w*|save\w*|checkpoint\w*|eval_(every|interval|steps)|keep_last|\w+_(interval|freq|every)|version|id)$`), "changes no result"},
	{regexp.MustCompile(`(?i)(^|_)(cv|folds?|n_splits|split|num_classes|n_classes|classes|num_features|input_dim|output_dim|limit|subset|max_len(gth)?|vocab(ulary)?_size|year|start|end)$`), "part of the task"},
}

// wordNames are those of options whose words are no choice.
var wordNames = regexp.MustCompile(`(?i)(^|_)(data|dataset|task|mode|format|backend|output|input|device|metric|stage|split|action|command)$`)

// leftAlone says why an option of this name is not varied; empty if it may be.
func leftAlone(name string) string {
	for _, o := range fixedOptions {
		if o.names.MatchString(name) {
			return o.why
		}
	}
	return ""
}

// The names of numbers tell what their values do not: real although written as whole
// numbers, varied by factors, sizes, which grow by factors too, or shares.
var (
	realNames  = regexp.MustCompile(`(?i)(^|_)(c|g|cost|gamma|lambda\w*|reg\w*|l1|l2|alpha|eta0?|lr|learning_rate|weight_decay|wd|decay|tol|eps|epsilon|temperature|sigma|scale)$`)
	zeroNames  = regexp.MustCompile(`(?i)(^|_)(lambda\w*|reg\w*|l1|l2|alpha|weight_decay|wd|decay)$`)
	shareNames = regexp.MustCompile(`(?i)(dropout|momentum|beta_?[12]|subsample|colsample|fraction|ratio|prob|rho|rate_drop)`)
	sizeNames  = regexp.MustCompile(`(?i)(batch|hidden|width|units|dim|size|channels|estimators|trees|leaves|rank|filters|embed)`)
	wholeNames = regexp.MustCompile(`(?i)(batch|layers|depth|size|estimators|trees|leaves|units|hidden|width|rounds|channels|filters)`)
)

// guessRange sets the kind, range and scale of p around the value x that is used today, and reports
// false if nothing is known of it. The value leads: an exponent, or less than 0.05, is varied by
// factors; 0.9 and more, below 1, counts by its distance from 1. Today's value is always inside.
func guessRange(p *spaces.Param, x float64, text string) bool {
	p.Kind = spaces.KindFloat
	whole := !strings.ContainsAny(text, ".eE") && !strings.HasPrefix(text, "+")
	factors := strings.ContainsAny(text, "eE") || x > 0 && x < 0.05
	switch {
	case x == math.Trunc(x) && x >= 1 && (whole && !realNames.MatchString(p.Name) || wholeNames.MatchString(p.Name)):
		p.Kind = spaces.KindInt
		if sizeNames.MatchString(p.Name) {
			p.Min, p.Max, p.Scale = math.Max(1, math.Floor(x/8)), x*8, spaces.Log
		} else {
			p.Min, p.Max = math.Max(1, math.Floor(x/4)), math.Max(x*3, x+2)
		}
	case x >= 0.9 && x < 1:
		p.Min, p.Max = math.Max(0, roundBy(1-10*(1-x), 1-x)), roundBy(1-(1-x)/10, (1-x)/10)
		if p.Min > 0 { // momentum may be 0
			p.Scale = spaces.Logit
		}
	case factors || x > 0 && realNames.MatchString(p.Name):
		p.Min, p.Max, p.Scale = roundTo1(x/100), roundTo1(x*100), spaces.Log
	case x >= 0 && x < 1 && shareNames.MatchString(p.Name):
		p.Min, p.Max = 0, 0.99
	case x == 1 && shareNames.MatchString(p.Name):
		p.Min, p.Max = 0.1, 1
	case x == 0 && zeroNames.MatchString(p.Name):
		p.Min, p.Max = 0, 0.1
	case x > 0:
		p.Min, p.Max, p.Scale = roundTo1(x/10), roundTo1(x*10), spaces.Log
	case x < 0 && !whole:
		p.Min, p.Max = roundTo1(x*10), 0
	default:
		return false
	}
	if x < p.Min || x > p.Max { // rounding
		p.Min, p.Max = math.Min(p.Min, x), math.Max(p.Max, x)
	}
	return true
}

// roundTo1 rounds to one significant digit.
func roundTo1(x float64) float64 { return reformat(x, 'e', 0) }

// roundBy rounds x to the first significant digit of step.
func roundBy(x, step float64) float64 {
	return reformat(x, 'f', max(0, int(-math.Floor(math.Log10(step)+1e-9))))
}

// reformat is x as it is written with so many digits.
func reformat(x float64, format byte, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, format, digits, 64), 64)
	if err != nil {
		return x
	}
	return r
}

// The ways in which programs list the words that an option takes:
//
//	argparse      --optimizer {sgd,adam}
//	click         --optimizer [sgd|adam]
//	clap          --optimizer <OPTIMIZER>  The optimizer [possible values: sgd, adam]
//	gflags, absl  --optimizer: <sgd|adam>: the optimizer
var (
	listedRE   = regexp.MustCompile(`[{\[<(]\s*([\w.+-]+(?:\s*[,|]\s*[\w.+-]+)+)\s*[}\]>)]`)
	possibleRE = regexp.MustCompile(`(?i)\[?(?:possible values|choices|one of|allowed values)\s*:\s*[\[{(]?\s*([^\]})]+)`)
	flagRE     = regexp.MustCompile(`^\s*-[\w-]+(?:[ =](?:[{\[<(][^}\]>)]*.|[^\s,]+))?(?:,\s+-[\w-]+)*`)
	longRE     = regexp.MustCompile(`--?[A-Za-z][\w-]*`)
	wordRE     = regexp.MustCompile(`^[\w.+-]+$`)
)

// optionChoices reads the words that options take from what a program prints for --help.
func optionChoices(help string) map[string][]string {
	out := map[string][]string{}
	var flags []string // whose description the line belongs to
	for line := range strings.Lines(help) {
		head := flagRE.FindString(line)
		if head != "" {
			flags = longRE.FindAllString(head, -1)
		}
		// In the line of the option itself the words may stand in its place for a value; further
		// down only if the line says what they are.
		list := possibleRE.FindStringSubmatch(line)
		if list == nil && head != "" {
			list = listedRE.FindStringSubmatch(line)
		}
		for _, flag := range flags {
			if list != nil && out[flag] == nil {
				out[flag] = words(list[1])
			}
		}
		if strings.TrimSpace(line) == "" {
			flags = nil
		}
	}
	return out
}

// words splits a list of two or more at commas and bars; one with anything else in it is none.
func words(list string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '|' }) {
		w = strings.Trim(strings.TrimSpace(w), `'"`)
		if !wordRE.MatchString(w) {
			return nil
		}
		out = append(out, w)
	}
	if len(out) < 2 {
		return nil
	}
	return out
}
