package draft

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/parser"
)

// The names of metrics tell what they measure and in which direction they are better.
var (
	lossNames  = regexp.MustCompile(`(?i)(^|[^a-z])(loss|err|error|rmse|mse|mae|mape|nll|bpd|bpc|perplexity|ppl|log_?loss|deviance|regret|wer|cer|fid)([^a-z]|$)`)
	gainNames  = regexp.MustCompile(`(?i)(^|[^a-z])(acc|accuracy|auc|auroc|f1|f1[-_]score|score|r2|precision|recall|map|iou|miou|dice|bleu|rouge|reward|return|psnr|ssim|throughput|fps|kappa|mcc|ndcg|elbo|likelihood|\w+@\d+)([^a-z]|$)`)
	costNames  = regexp.MustCompile(`(?i)(^|[^a-z])(cost|objective|seconds|time|runtime|elapsed|latency|size|bytes)([^a-z]|$)`) // where nothing else is printed
	heldOut    = regexp.MustCompile(`(?i)(^|[^a-z])(val|valid|validation|dev|eval|test|cv|holdout|oob)([^a-z]|$)`)
	whole      = regexp.MustCompile(`(?i)(^|[^a-z])(total|best|final|overall|cpu|wall|real)([^a-z]|$)`)
	inTraining = regexp.MustCompile(`(?i)(^|[^a-z])(train|training|tr|parse|parsing|load|loading|read|reading|setup|simplification|init)([^a-z]|$)`)
	noMetrics  = regexp.MustCompile(`(?i)(^n$|(^|[^a-z])(epochs?|steps?|iter|iters|iteration|iterations|batch|lr|learning_rate|seed|eta|after|samples|examples|rank|world|gpu|cuda|device|memory|params|parameters|version|port|layers?|depth|workers|threads?|number of|num|count|counts|checksum|total)([^a-z]|$))`)
)

// chosen is a metric that a program seems to print, and what speaks for it.
type chosen struct {
	parser.Candidate
	name     string
	weight   int
	maximize bool
}

// Output is what a program has printed, or written to a file.
type Output struct {
	Source string // as Program.Source
	Text   []byte
}

// TakeMetric chooses the objective among what a program has printed, the first where as much speaks for several,
// and says in Remark what else there was. It returns false, and changes nothing, if there is nothing to choose from.
func (d *Program) TakeMetric(outputs ...Output) bool {
	was := 0
	for _, o := range outputs {
		if weight := d.take(o, was); weight > was {
			was = weight
		}
	}
	return was > 0
}

// take chooses a metric of one output if more speaks for it than for another.
func (d *Program) take(o Output, was int) int {
	var all []chosen
	var names []string
	for _, c := range parser.Candidates(o.Text) {
		if c.Problem != nil || c.Rule.LastNumber && o.Source != "" && o.Source != "stderr" {
			continue
		}
		m := weigh(c)
		value := c.Result.Reading.Text
		setting := func(a string) bool { return a == value || strings.HasSuffix(a, "="+value) }
		if m.weight == 2 && slices.ContainsFunc(d.Argv, setting) { // it may only be repeated
			m.weight = 0
		}
		if !c.Rule.LastNumber {
			names = append(names, fmt.Sprintf("%s (%s)", m.name, c.Result.Reading.Text))
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return 0
	}
	best := slices.MaxFunc(all, func(a, b chosen) int { return cmp.Compare(a.weight, b.weight) })
	if was > 0 && (best.weight < 8 || best.weight < was) { // beside what is printed only a name that says it all counts
		return 0
	}
	for _, m := range all { // "mse" of each fold, and "MSE" of all
		if strings.EqualFold(m.name, best.name) && m.Result.Reading.Line > best.Result.Reading.Line {
			best = m
		}
	}
	if len(names) > maxNames {
		names = append(names[:maxNames], "...")
	}
	d.Rule, d.Maximize, d.Source = best.Rule, best.maximize, o.Source
	d.Remark = fmt.Sprintf("The command was run once and printed %s.", strings.Join(names, ", "))
	if best.Rule.LastNumber {
		d.Remark = fmt.Sprintf("The command was run once. Its last number is taken: %s.", best.Result.Reading.Text)
	}
	if o.Source != "" && o.Source != "stderr" {
		d.Remark = strings.Replace(d.Remark, "printed", "wrote into "+o.Source, 1)
	}
	return best.weight + 1
}

// maxNames is how many metrics a remark lists.
const maxNames = 12

// weigh says how much speaks for a candidate: above all a name for data that was not trained on.
func weigh(c parser.Candidate) chosen {
	m := chosen{Candidate: c, name: cmp.Or(c.Rule.Metric, c.Rule.JSON)}
	loss, gain := lossNames.MatchString(m.name), gainNames.MatchString(m.name)
	m.maximize = gain && !loss
	switch no := noMetrics.MatchString(m.name); {
	case c.Rule.LastNumber:
		m.weight = 1
	case loss || gain:
		m.weight = 8
	case costNames.MatchString(m.name) && (!no || whole.MatchString(m.name)):
		m.weight = 6
	case no, strings.HasPrefix(m.name, "("):
		return m
	default:
		m.weight = 2
	}
	if heldOut.MatchString(m.name) {
		m.weight += 4
	}
	if whole.MatchString(m.name) {
		m.weight++
	}
	if inTraining.MatchString(m.name) {
		m.weight -= 3
	}
	return m
}
