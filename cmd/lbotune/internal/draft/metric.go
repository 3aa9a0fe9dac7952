package draft

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/pattern"
	"github.com/lbotune/lbotune/parser"
)

// The names of metrics tell what they measure and in which direction they are better.
var (
	lossNames = pattern.Lazy(`(?i)(^|[^a-z])(loss|err|error|rmse|mse|mae|mape|nll|bpd|bpc|perplexity|ppl|log_?loss|deviance|regret|wer|cer|fid)([^a-z]|$)`)
	gainNames = pattern.Lazy(`(?i)(^|[^a-z])(acc|accuracy|auc|auroc|f1|f1[-_]score|score|r2|precision|recall|map|iou|miou|dice|bleu|rouge|reward|return|psnr|ssim|kappa|mcc|ndcg|elbo|likelihood|silhouette|modularity|correlation|pearson|spearman|elo|explained[-_ ]variance|ari|nmi|ess|hypervolume|ll|top[-_]?\d+|\w+@\d+)([^a-z]|$)`)
	// where nothing else is printed
	costNames  = pattern.Lazy(`(?i)(^|[^a-z])(cost|objective|makespan|energy|residual|gap|seconds|time|runtime|elapsed|latency|p9\d+|ms|size|bytes)([^a-z]|$)`)
	speedNames = pattern.Lazy(`(?i)(^|[^a-z])(rew|throughput|fps|qps|rps|iops|tps|bandwidth|\w*flops|\w+/s|\w+/sec|yield|hits?|profit|revenue|speed|speedup|efficiency|(?:hit|win|success)[-_ ]?rate|(?:requests|tokens|samples|images|examples|sequences|words|frames|items|records|rows|messages|events|packets|bytes|queries|transactions|ops|operations|reads|writes|calls|jobs|steps|iterations|episodes|games) per (?:sec|second|minute|hour))([^a-z]|$)`)
	badNames   = pattern.Lazy(`(?i)(^|[^a-z])(errors?|fail(?:s|ed|ures?)?|miss(?:es|ed)?|timeouts?|drop(?:s|ped)?|lost|losses|reject(?:s|ed|ions)?|retries|retransmi\w+|faults?|stalls?|abort(?:s|ed)?|crashes|collisions|conflicts|violations|evictions|exceptions|deadlocks)([^a-z:=][^:=]*)?$`)
	notBad     = pattern.Lazy(`(?i)(^|[^a-z\d.])(no|without( any)?|zero|0)[-_ ]+[a-z]+|[a-z]+-(free|tolerant|in)([^a-z]|$)|hits?/miss(es)?|(^|.*[^a-z])speedup([^a-z]|$)`)
	vague      = pattern.Lazy(`(?i)^(rate|ratio|value|second|sec|minute|hour)$`)
	spread     = pattern.Lazy(`(?i)(^|[^a-z])(std|stddev|stdev|sd|sem|var|variance)([^a-z]|$)`)
	heldOut    = pattern.Lazy(`(?i)(^|[^a-z])(val|valid|validation|dev|eval|test|cv|holdout|oob)([^a-z]|$)`)
	whole      = pattern.Lazy(`(?i)(^|[^a-z])(total|best|final|overall|cpu|wall|real)([^a-z]|$)`)
	inTraining = pattern.Lazy(`(?i)(^|[^a-z])(train|training|tr|parse|parsing|load|loading|read|reading|setup|simplification|init|input|original|before|initial)([^a-z]|$)`)
	noMetrics  = pattern.Lazy(`(?i)(^([a-eg-ik-xz]|n_\w+)$|(^|[^a-z])(epochs?|steps?|iter|iters|iteration|iterations|batch|lr|learning_rate|seed|eta|after|samples|examples|rank|world|gpu|cuda|device|memory|params|parameters|version|port|layers?|depth|workers|threads?|number of|num|count|counts|checksum|total|improve|clusters|divergences|bound|features|cities|rows|answer|models|calls|std)([^a-z]|$))`)
)

// beforeRE is what of a line does not belong to its last number: up to another, or a comma.
var beforeRE = pattern.Lazy(`^.*([,;|]|[=:\s][-+\d.]+%?\s)`)

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
// and says in Remark what else there was. It returns false, and makes none the objective, if there is
// nothing to choose from.
func (d *Program) TakeMetric(outputs ...Output) bool {
	was := 0
	for _, o := range outputs {
		inFile := o.Source != "" && o.Source != "stderr"
		all, names := candidates(o.Text, d.Argv)
		verb := "printed"
		if inFile { // whose last number may be anything
			verb = "wrote into " + o.Source
			all = slices.DeleteFunc(all, func(m chosen) bool { return m.Rule.LastNumber })
		}
		if len(all) == 0 {
			continue
		}
		// Of equals the first, or, where little speaks for any, the one that is printed last, as results are.
		best := slices.MaxFunc(all, func(a, b chosen) int {
			if a.weight != b.weight || a.weight >= strong {
				return cmp.Compare(a.weight, b.weight)
			}
			return cmp.Compare(a.Result.Reading.Line, b.Result.Reading.Line)
		})
		switch {
		case best.weight <= 0:
			d.Remark = cmp.Or(d.Remark, fmt.Sprintf("The command was run once and %s %s: write the name of what counts.", verb, names))
			continue
		case was > 0 && best.weight <= max(strong, was):
			continue
		}
		for _, m := range all { // "mse" of each fold, and "MSE" of all
			if strings.EqualFold(m.name, best.name) && m.Result.Reading.Line > best.Result.Reading.Line {
				best = m
			}
		}
		was, d.Rule, d.Maximize, d.Source = best.weight, best.Rule, best.maximize, o.Source
		d.Remark = fmt.Sprintf("The command was run once and %s %s.", verb, names)
		if best.Rule.LastNumber {
			d.Remark = fmt.Sprintf("The command was run once. Its last number is taken: %s.", best.Result.Reading.Text)
		}
	}
	return was > 0
}

// candidates weighs what an output has, and names it with its values, the first of it.
func candidates(text []byte, argv []string) (all []chosen, names string) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, "" // it is no text
	}
	lines := strings.Split(string(text), "\n")
	var list []string
	for _, c := range parser.Candidates(text) {
		if c.Problem != nil {
			continue
		}
		r := c.Result.Reading
		before := lines[min(r.Line, len(lines))-1]
		m := weigh(c, beforeRE().ReplaceAllString(before[:min(r.Column-1, len(before))], ""))
		if m.weight == 2 && slices.ContainsFunc(argv, func(a string) bool { return a == r.Text || strings.HasSuffix(a, "="+r.Text) }) {
			m.weight = 0 // it may only be repeated
		}
		if all = append(all, m); !c.Rule.LastNumber {
			list = append(list, fmt.Sprintf("%s (%s)", m.name, r.Text))
		}
	}
	if len(list) > maxNames {
		list = append(list[:maxNames], "...")
	}
	return all, strings.Join(list, ", ")
}

const (
	strong   = 6  // the weight of a name that says what is measured
	maxNames = 12 // how many metrics a remark lists
)

// weigh says how much speaks for a candidate: above all a name, or words before it, for data that was not trained on.
func weigh(c parser.Candidate, before string) chosen {
	m := chosen{Candidate: c, name: cmp.Or(c.Rule.Metric, c.Rule.JSON)}
	name := cmp.Or(m.name, before) // the last number has no name
	if vague().MatchString(name) { // as of "win rate: 0.8"
		name = before
	}
	isBad := func(text string) bool { return badNames().MatchString(notBad().ReplaceAllString(text, "")) }
	bad := isBad(name) || isBad(strings.TrimRight(before, `"':= `))
	loss, gain, speed := lossNames().MatchString(name), gainNames().MatchString(name), speedNames().MatchString(name) && !bad
	m.maximize = (gain || speed) && !loss
	switch no := noMetrics().MatchString(name); {
	case c.Rule.LastNumber:
		m.weight = 1
		return m
	case loss || gain:
		m.weight = 8
	case speed, costNames().MatchString(name) && (!no || whole().MatchString(name)):
		m.weight = strong
	case no, strings.HasPrefix(name, "("):
		return m
	default:
		m.weight = 2
	}
	for _, by := range []struct {
		words func() *regexp.Regexp
		more  int
	}{{heldOut, 4}, {whole, 1}, {inTraining, -3}, {spread, -5}} {
		if by.words().MatchString(name) || m.weight >= strong && by.words().MatchString(before) {
			m.weight += by.more
		}
	}
	return m
}
