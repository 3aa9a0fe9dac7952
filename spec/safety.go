package spec

import (
	"cmp"
	"slices"

	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// safety reads [safety], once metrics, parameters and the rest are known.
func (t *table) safety(cfg study.Config) *study.Safety {
	s := t.sub("safety")
	if s.data == nil {
		return nil
	}
	out := &study.Safety{Metric: s.str("metric", cfg.Objective().Name)}
	var names []string
	for _, m := range cfg.Metrics {
		names = append(names, m.Name)
	}
	if s.has("metric") && !slices.Contains(names, out.Metric) {
		s.at("metric", didYouMeanWord(out.Metric, names), "there is no metric %s", out.Metric)
	}
	low, high, bad := s.limit("min"), s.limit("max"), s.misread("min", "max")
	switch {
	case bad:
	case (low == nil) == (high == nil):
		s.self("for example min = 0.8", "needs one limit, min or max")
	case low != nil:
		out.At, out.Least = *low, true
	default:
		out.At = *high
	}
	var ok bool
	if out.Constant, ok = s.number("constant"); ok && out.Constant <= 0 {
		s.at("constant", "", "found %v; want a positive number", out.Constant)
	} else if !ok && !s.misread("constant") {
		s.missing("constant", "how much the metric can change at most from one end of a range to the other", "needs a constant")
	}
	for _, p := range cfg.Params {
		if !p.Default.IsValid() || p.Sure != "" {
			s.self("add default = ..., which is tried first", "begins with values that are known to be safe: parameter %s needs a default", p.Name)
			break
		}
	}
	if method := cmp.Or(cfg.Optimizer.Method, optimizer.MethodLBO); method != optimizer.MethodLBO {
		s.self("", "is for method %s; the method here is %s", optimizer.MethodLBO, method)
	}
	if cfg.Resource() != "" {
		s.self("", "cannot stand beside successive halving, which runs proposals with less of the resource")
	}
	s.done()
	return out
}
