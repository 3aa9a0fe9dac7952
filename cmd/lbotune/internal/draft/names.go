package draft

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/spaces"
)

// Options that are no hyperparameters, whatever their values, by their names and by how --help
// begins to describe them.
var fixedOptions = []struct {
	names, help func() *regexp.Regexp
	why         string
}{
	{pattern.Lazy(`(?i)(^|_)(cv|k?folds?|n_splits|split|num_classes|n_classes|classes|num_features|input_dim|output_dim|limit|subset|max_len(gth)?|vocab(ulary)?_size|year|start|end|date|(val|valid|validation|test|train|holdout)_(fraction|frac|size|split|ratio))$`),
		pattern.Lazy(`(?i)\bfolds?\b|cross.?valid`), "part of the task"},
	{pattern.Lazy(`(?i)(^|_)([a-z]*seeds?|random_state|rng)$`), pattern.Lazy(`(?i)\bseed\b.*\brandom|\brandom.*\bseed\b|\brng\b`), "chance"},
	{pattern.Lazy(`(?i)(^|_)(epochs?|(max|num|n|total|train|training)_?(updates|generations|seconds|minutes|hours|duration)|(max|n)?_?(steps|timesteps|iters?|iterations|evals|evaluations)|repeats|repetitions|n?_?runs|(time|cpu|mem)_?lim(it)?|tm_?lim|timeout|budget|max_?time|wall_?time)$|^(time|seconds|minutes|hours|duration)$`),
		pattern.Lazy(`(?i)\b(number|maximum|max) (number )?(of )?(training )?(iterations|iters|epochs|steps|generations|evaluations)\b|time ?limit`), "how long it runs; more is rarely worse and costs time"},
	{pattern.Lazy(`(?i)(^|_)(n?(cpus?|gpus?|cores|threads?|procs?|processes|machines|nodes|workers|jobs)(_(per_\w+|count))?|devices?|cuda|port|host|local_rank|node_rank|world_size|j|np|parallel|parallelism|concurrency|memory|mem|ram)$`),
		pattern.Lazy(`(?i)\b(threads|processes|processors|goroutines|cores|cache memory|cache size)\b`), "of the machine"},
	{pattern.Lazy(`(?i)(^|_)(verb|verbose|verbosity|v|debug|log\w*|print\w*|save\w*|checkpoint\w*|(eval|val|test|report|display|summary)_(every|interval|steps|freq)|keep_last|\w+_(interval|every)|every|version|id|colou?r)$|^(run|experiment)$`),
		pattern.Lazy(`(?i)\bverbos|\bquiet\b|\bprint|\bprogress\b|\blogging\b`), "changes no result"},
	{pattern.Lazy(`(?i)(^|_)(delete|remove|rm|clean|cleanup|purge|erase|wipe|overwrite|expire)(_|$)`), pattern.Lazy(`(?i)^\S*\s+(delete|remove|erase|overwrite)s?\b`), "may delete something"},
}

var (
	// wordNames are those of options whose words are no choice.
	wordNames = pattern.Lazy(`(?i)(^|_)(data|dataset|task|mode|format|backend|output|input|device|metric|stage|split|action|command)$`)
	// codeNames are those of options whose small numbers are codes, and dataPaths lead to what is no setting of a method.
	codeNames = pattern.Lazy(`(?i)(^|_)(s|t|m|mode|type|solver|method|algo|algorithm|kernel|strategy)$`)
	dataPaths = pattern.Lazy(`(?i)^(data|dataset|paths?|log|logger|logging|output|wandb)\.`)
	fileRE    = pattern.Lazy(`/|\.[A-Za-z]\w{0,5}$`)
	valueRE   = pattern.Lazy(`^[A-Za-z_]{2,}`)
	camelRE   = pattern.Lazy(`([a-z])([A-Z])`)
)

// spelt is a name in small words; what --help calls the value of an option of one letter, such as
// -c cost, says more than the letter.
func (h *helped) spelt(name string) string {
	if value := valueRE().FindString(h.text); len(name) == 1 && value != "" {
		name = value
	}
	return camelRE().ReplaceAllString(name, "${1}_$2")
}

// leftAlone says why an option is not varied; empty if it may be.
func leftAlone(flag, value string, h *helped) string {
	name := h.spelt(nameOf(flag))
	n, err := strconv.Atoi(value)
	switch {
	case err == nil && n >= 0 && n < 20 && (h.code || h.text == "" && codeNames().MatchString(name)):
		return "a number that seems to stand for something: make it a choice"
	case dataPaths().MatchString(flag):
		return "part of the task"
	case len(value) > 1 && value[0] == '0' && strings.Trim(value, "0123456789") == "":
		return "a number with a zero before it seems to be a name"
	case err == nil && n > 1 && name == "v" && h.text == "":
		return "may be a number of folds, or how much is printed"
	}
	for _, o := range fixedOptions {
		if o.names().MatchString(name) && (len(name) > 1 || h.text == "") || o.help().MatchString(h.text[:min(len(h.text), 100)]) {
			return o.why
		}
	}
	return ""
}

// The names of numbers tell what their values do not: real although written as whole
// numbers, varied by factors, sizes, which grow by factors too, or shares.
var (
	realNames  = pattern.Lazy(`(?i)(^|_)(c|g|cost|gamma|lambda\w*|reg\w*|l1|l2|alpha|eta0?|lr|learning_rate|weight_decay|wd|decay|tol|eps|epsilon|temperature|sigma|scale)$`)
	zeroNames  = pattern.Lazy(`(?i)(^|_)(lambda\w*|reg\w*|l1|l2|alpha|weight_decay|wd|decay|smoothing|noise|jitter|penalty|\w*coef|\w*coeff)$`)
	shareNames = pattern.Lazy(`(?i)(drop|momentum|beta_?[12]|ratio|prob|rho|^nu$|rate_drop|accept|crossover|mutation|freq$)`)
	partNames  = pattern.Lazy(`(?i)(subsample|colsample|fraction|frac(_|$)|keep|max_features|sample_rate)`) // of something, and not nothing
	rateRE     = pattern.Lazy(`(?i)rate$`)
	factorRE   = pattern.Lazy(`(?i)(^|_)(gamma|alpha|lambda|decay|damping|discount)$`) // 0.7 is one, 0.1 a weight
	unitNames  = pattern.Lazy(`(?i)(^|_)(lr|eta0?|(\w*_)?rate|decay)$`)
	sizeNames  = pattern.Lazy(`(?i)(batch|hidden|width|units|dim|size|channels|estimators|trees|leaves|rank|filters|embed)`)
	wholeNames = pattern.Lazy(`(?i)(batch|layers|depth|size|estimators|trees|leaves|units|hidden|width|rounds|channels|filters)`)
)

// guessRange sets the kind, range and scale of p around the value x that is used today, and reports
// false if nothing is known of it. The value leads: an exponent, or less than 0.05, is varied by
// factors; 0.9 and more, below 1, counts by its distance from 1. Today's value is always inside,
// and what --help says of the option holds.
func guessRange(p *spaces.Param, x float64, text string, h *helped) bool {
	p.Kind = spaces.KindFloat
	name := h.spelt(p.Name)
	whole := !strings.ContainsAny(text, ".eE") && !strings.HasPrefix(text, "+")
	factors := strings.ContainsAny(text, "eE") || x > 0 && x < 0.05
	share := shareNames().MatchString(name)
	integer := whole && (!realNames().MatchString(name) || h.typed && x >= 2) || wholeNames().MatchString(name) && !strings.Contains(text, ".")
	if h.kind != "" {
		integer = h.kind == spaces.KindInt
	}
	switch {
	case h.whole:
		p.Kind, p.Min, p.Max = spaces.KindInt, h.lo, h.hi
	case x >= 0.1 && x < 1 && partNames().MatchString(name), x == 1 && h.kind != spaces.KindInt && (share || partNames().MatchString(name) || rateRE().MatchString(name)):
		p.Min, p.Max = 0.1, 1
	case x == math.Trunc(x) && x >= 1 && integer:
		p.Kind = spaces.KindInt
		if sizeNames().MatchString(name) {
			p.Min, p.Max, p.Scale = math.Max(1, math.Floor(x/8)), x*8, spaces.Log
		} else {
			p.Min, p.Max = math.Max(1, math.Floor(x/4)), math.Max(x*3, x+2)
		}
	case x >= 0.9 && x < 1:
		p.Min, p.Max = math.Max(0, roundBy(1-10*(1-x), 1-x)), roundBy(1-(1-x)/10, (1-x)/10)
		if p.Min > 0 { // momentum may be 0
			p.Scale = spaces.Logit
		}
	case factors || x > 0 && realNames().MatchString(name):
		p.Min, p.Max, p.Scale = roundTo1(x/100), roundTo1(x*100), spaces.Log
	case x >= 0 && x < 1 && share:
		p.Min, p.Max = 0, 0.99
	case x == 0 && zeroNames().MatchString(name):
		p.Min, p.Max = 0, 0.1
	case x > 0:
		p.Min, p.Max, p.Scale = roundTo1(x/10), roundTo1(x*10), spaces.Log
	case x < 0 && !whole:
		p.Min, p.Max = roundTo1(x*10), 0
	case h.lo <= x && x <= h.hi && h.hi-h.lo <= 1000:
		p.Min, p.Max = h.lo, h.hi
		if h.kind == spaces.KindInt || whole && h.kind == "" && h.hi > 1 {
			p.Kind = spaces.KindInt
		}
	default:
		return false
	}
	if p.Kind == spaces.KindFloat && x <= 1 && p.Max > 1 && (unitNames().MatchString(name) || x > 0.5 && factorRE().MatchString(name)) {
		p.Max = 1
	}
	if h.lo <= x && x <= h.hi && h.lo < h.hi { // else something else was read
		p.Min, p.Max = math.Max(p.Min, h.lo), math.Min(p.Max, h.hi)
	}
	return true
}

func roundTo1(x float64) float64 { return reformat(x, 'e', 0) }

// roundBy rounds x to the first significant digit of step.
func roundBy(x, step float64) float64 {
	return reformat(x, 'f', max(0, int(-math.Floor(math.Log10(step)+1e-9))))
}

// reformat is x as it is written with so many digits.
func reformat(x float64, format byte, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(x, format, digits, 64), 64) // of a number as Go writes it
	return r
}
