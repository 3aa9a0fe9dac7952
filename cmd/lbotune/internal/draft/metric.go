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
	lossNames  = regexp.MustCompile(`(?i)(^|[^a-z])(loss|err|error|rmse|mse|mae|mape|nll|bpd|bpc|perplexity|ppl|log_?loss|deviance|cost|objective|regret|wer|cer|fid|seconds|time|runtime|latency|size|bytes)([^a-z]|$)`)
	gainNames  = regexp.MustCompile(`(?i)(^|[^a-z])(acc|accuracy|auc|auroc|f1|f1[-_]score|score|r2|precision|recall|map|iou|miou|dice|bleu|rouge|reward|return|psnr|ssim|throughput|fps|kappa|mcc|ndcg|elbo|likelihood)([^a-z]|$)`)
	heldOut    = regexp.MustCompile(`(?i)(^|[^a-z])(val|valid|validation|dev|eval|test|cv|holdout|oob)([^a-z]|$)`)
	inTraining = regexp.MustCompile(`(?i)(^|[^a-z])(train|training|tr)([^a-z]|$)`)
	noMetrics  = regexp.MustCompile(`(?i)(^|[^a-z])(epochs?|steps?|iter|iters|iteration|iterations|batch|lr|learning_rate|seed|eta|after|samples|rank|world|gpu|cuda|device|memory|params|parameters|version|port|layers?|depth|workers)([^a-z]|$)`)
)

// chosen is a metric that a program seems to print, and what speaks for it.
type chosen struct {
	parser.Candidate
	name     string
	weight   int
	maximize bool
}

// TakeMetric chooses the objective among what a program has printed, and says in Remark what else
// there was. It returns false, and changes nothing, if there is nothing to choose from.
func (d *Program) TakeMetric(candidates []parser.Candidate) bool {
	var all []chosen
	var names []string
	for _, c := range candidates {
		if c.Problem != nil {
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
		return false
	}
	best := slices.MaxFunc(all, func(a, b chosen) int { return cmp.Compare(a.weight, b.weight) })
	for _, m := range all { // "mse" of each fold, and "MSE" of all
		if strings.EqualFold(m.name, best.name) && m.Result.Reading.Line > best.Result.Reading.Line {
			best = m
		}
	}
	if len(names) > maxNames {
		names = append(names[:maxNames], "...")
	}
	d.Rule, d.Maximize = best.Rule, best.maximize
	d.Remark = fmt.Sprintf("The command was run once and printed %s.", strings.Join(names, ", "))
	if best.Rule.LastNumber {
		d.Remark = fmt.Sprintf("The command was run once. Its last number is taken: %s.", best.Result.Reading.Text)
	}
	return true
}

// maxNames is how many metrics a remark lists.
const maxNames = 12

// weigh says how much speaks for a candidate: above all a name for data that was not trained on.
func weigh(c parser.Candidate) chosen {
	m := chosen{Candidate: c, name: cmp.Or(c.Rule.Metric, c.Rule.JSON)}
	loss, gain := lossNames.MatchString(m.name), gainNames.MatchString(m.name)
	m.maximize = gain && !loss
	switch {
	case c.Rule.LastNumber:
		m.weight = 1
	case loss || gain:
		m.weight = 8
	case noMetrics.MatchString(m.name), strings.HasPrefix(m.name, "("):
		return m
	default:
		m.weight = 2
	}
	if heldOut.MatchString(m.name) {
		m.weight += 4
	}
	if inTraining.MatchString(m.name) {
		m.weight -= 3
	}
	return m
}
