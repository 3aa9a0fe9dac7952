package parser

// matchers are what one scanner looks for: the metrics of its collector, those
// that can be found together by one matcher.
type matchers struct {
	all    []matcher
	names  *nameMatcher        // nil for none
	shared map[string]matcher  // of several metrics, by what they have in common
	why    map[int]explainer   // by metric, where there is one
	steps  []*stepFinder       // each step once
	step   map[int]*stepFinder // by metric, where a step is to be looked for
}

func newMatchers(patterns []*Pattern, metrics []int) *matchers {
	m := &matchers{shared: map[string]matcher{}, why: map[int]explainer{}, step: map[int]*stepFinder{}}
	finders := map[string]*stepFinder{}
	for _, metric := range metrics {
		p := patterns[metric]
		if p.join == nil {
			continue
		}
		p.join(m, metric)
		if p.step == nil {
			continue
		}
		if finders[p.rule.Step] == nil {
			finders[p.rule.Step] = p.step.finder()
			m.steps = append(m.steps, finders[p.rule.Step])
		}
		m.step[metric] = finders[p.rule.Step]
	}
	return m
}

// sharedMatcher gives the matcher of all metrics that have this in common.
func sharedMatcher[M matcher](m *matchers, common string, fresh M) M {
	if have, ok := m.shared[common]; ok {
		return have.(M)
	}
	m.shared[common] = fresh
	m.all = append(m.all, fresh)
	return fresh
}

// alone adds a metric that has a matcher of its own.
func (m *matchers) alone(metric int, own matcher) {
	m.all = append(m.all, &loneMatcher{own, metric})
}

// inTable reports whether the next line may be a row of a table, whatever it holds.
func (m *matchers) inTable() bool { return m.names != nil && m.names.rows }

// match appends the line's occurrences, each with its step, to found.
func (m *matchers) match(l line, found []occurrence) []occurrence {
	for _, matcher := range m.all {
		if !l.torn || closes(matcher) {
			found = matcher.match(l, found)
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

// closes reports whether what m finds has an end of its own, so that it is whole wherever
// the line ends.
func closes(m matcher) bool {
	switch m.(type) {
	case *jsonMatcher, *tuneMetricMatcher, *metricValueMatcher:
		return true
	}
	return false
}

// needles lists what a line must have to be worth a look, see matcher. Where they
// are many, looking at every line takes less time than looking for each of them.
func (m *matchers) needles() [][]byte {
	const many = 8
	var needles [][]byte
	for _, matcher := range m.all {
		own := matcher.needles()
		if own == nil {
			return nil
		}
		needles = append(needles, own...)
	}
	for _, steps := range m.steps {
		needles = append(needles, steps.rule.needle)
	}
	if len(needles) > many {
		return nil
	}
	return needles
}

// loneMatcher is the matcher of one metric.
type loneMatcher struct {
	matcher
	metric int
}

func (m *loneMatcher) match(l line, found []occurrence) []occurrence {
	mine := len(found)
	found = m.matcher.match(l, found)
	for i := range found[mine:] {
		found[mine+i].metric = m.metric
	}
	return found
}
