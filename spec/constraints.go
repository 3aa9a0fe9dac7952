package spec

import (
	"maps"
	"slices"

	"github.com/lbotune/lbotune/study"
)

// constraints reads [constraints.NAME]: limits on metrics that the config has, or on new
// ones. It returns the metric that each name limits.
func (t *table) constraints(cfg *study.Config) map[string]string {
	all := t.sub("constraints")
	out := map[string]string{}
	for _, name := range t.doc.keysOf(all) {
		s := all.sub(name)
		low, high, stop := s.limit("min"), s.limit("max"), s.boolean("stop")
		if low == nil && high == nil && s.data != nil && !s.misread("min", "max") {
			s.missing("max", "for example max = 8", "needs a limit, max or min")
		}
		if low != nil && high != nil && *low > *high {
			s.at("min", "", "min is %v and max is %v: nothing is both", *low, *high)
		}
		i := slices.IndexFunc(cfg.Metrics, func(m study.Metric) bool { return m.Name == s.refersTo(name) })
		if i >= 0 {
			s.metric() // so that its keys are known
			s.done()
		} else {
			if slices.ContainsFunc(cfg.Metrics[1:], func(m study.Metric) bool { return m.Name == name }) {
				s.self("give it another name, or leave out where it is found", "is what another metric is called")
			}
			i = len(cfg.Metrics)
			cfg.Metrics = append(cfg.Metrics, s.watched(name, cfg.Metrics))
		}
		m := &cfg.Metrics[i]
		switch {
		case i == study.MaxMetrics:
			s.self("", "there are more than %d metrics", study.MaxMetrics)
		case m.Limited():
			s.self("write min and max into one table", "metric %s has a limit already", m.Name)
		}
		m.Min, m.Max, m.Stop = low, high, stop
		if m.Stop && !m.StopsEarly() && m.Limited() {
			s.at("stop", "leave it out", "a trial can be stopped only for what it prints while it runs, and %s is known when it has ended", m.Name)
		}
		out[name] = m.Name
	}
	return out
}

// refersTo is the name of the metric that a constraint limits if there is one: its own,
// or the one after the key metric where no other key says how to find it.
func (t *table) refersTo(name string) string {
	if !t.hasRule() {
		return name
	}
	other := slices.ContainsFunc(append([]string{"measure"}, ruleKeys...), func(k string) bool { return k != "metric" && t.has(k) })
	if metric, ok := t.data["metric"].(string); ok && !other {
		return metric
	}
	return ""
}

// limit reads a number that may not be there.
func (t *table) limit(k string) *float64 {
	if x, ok := t.number(k); ok {
		return &x
	}
	return nil
}

// failedMeans checks which limit a failure means to be broken.
func (t *table) failedMeans(r *study.Run, limited map[string]string) {
	if r.FailedMeans == "" {
		return
	}
	metric, ok := limited[r.FailedMeans]
	if !ok {
		names := slices.Sorted(maps.Keys(limited))
		t.at("failed_means", didYouMeanWord(r.FailedMeans, names), "there is no table [constraints.%s]", r.FailedMeans)
	}
	r.FailedMeans = metric
}
