package parser

// matcher appends the line's occurrences of one or more metrics to found, those of each metric
// in the order of the line. It is for one stream, and may keep state between lines.
type matcher func(l line, found []occurrence) []occurrence

// matchers are what one scanner looks for: the metrics of its collector, those
// that can be found together by one matcher.
type matchers struct {
	all    []ownedMatcher
	shared map[string]any         // by what several metrics have in common: whose method is their matcher
	why    map[int]explainer      // by metric, where there is one
	steps  map[string]*stepFinder // by the rule of the step
	step   map[int]*stepFinder    // by metric, where a step is to be looked for
}

type ownedMatcher struct {
	match  matcher
	metric int  // whose it is, or ofSeveral: then an occurrence says itself whose it is
	closes bool // what it finds has an end of its own, and is whole wherever the line ends
}

const ofSeveral = -1

func newMatchers(patterns []*Pattern, metrics []int) *matchers {
	m := &matchers{shared: map[string]any{}, why: map[int]explainer{}, steps: map[string]*stepFinder{}, step: map[int]*stepFinder{}}
	for _, metric := range metrics {
		p := patterns[metric]
		if p.join != nil {
			p.join(m, metric)
		}
		if p.step == nil {
			continue
		}
		if m.steps[p.rule.Step] == nil {
			m.steps[p.rule.Step] = &stepFinder{match: p.step}
		}
		m.step[metric] = m.steps[p.rule.Step]
	}
	return m
}

// sharedMatcher gives what finds all metrics that have this in common.
func sharedMatcher[M interface {
	match(line, []occurrence) []occurrence
}](m *matchers, common string, fresh M, closes bool) M {
	if have, ok := m.shared[common]; ok {
		return have.(M)
	}
	m.shared[common] = fresh
	m.all = append(m.all, ownedMatcher{fresh.match, ofSeveral, closes})
	return fresh
}

// alone adds a metric that has a matcher of its own.
func (m *matchers) alone(metric int, own matcher) {
	m.all = append(m.all, ownedMatcher{match: own, metric: metric})
}

// match appends the line's occurrences, each with its step, to found.
func (m *matchers) match(l line, found []occurrence) []occurrence {
	for _, of := range m.all {
		if l.torn && !of.closes {
			continue
		}
		mine := len(found)
		found = of.match(l, found)
		for i := mine; i < len(found) && of.metric != ofSeveral; i++ {
			found[i].metric = of.metric
		}
	}
	for _, steps := range m.steps {
		steps.look(l)
	}
	for i := range found {
		o := &found[i]
		if o.line == 0 {
			o.line = l.number
		}
		if steps := m.step[o.metric]; steps != nil && !o.hasStep {
			o.step, o.hasStep = steps.at(o.at)
		}
	}
	for _, steps := range m.steps {
		steps.endLine()
	}
	return found
}
