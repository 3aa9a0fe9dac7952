package parser

import "slices"

// matcher appends the line's occurrences of one or more metrics to found, those of each metric
// in the order of the line. It is for one stream, and may keep state between lines.
type matcher func(l line, found []occurrence) []occurrence

// stream is what a collector knows of one stream: what is looked for in its lines, and what was
// found. Metrics that can be found together share a matcher.
type stream struct {
	source  Source
	emit    func(Reading)
	show    func(line, occurrence) // is told of all that is found; nil for none
	metrics []*searched            // by their indices, nil for those that are not searched
	all     []finder
	shared  map[string]any         // by what several metrics have in common: whose method is their matcher
	steps   map[string]*stepFinder // by the rule of the step
	found   []occurrence           // scratch

	number int  // LFs before the next byte
	open   bool // bytes have arrived since the last LF

	sample *sample // of all bytes, until every metric has a reading; then nil
	gaps   int     // so far
	long   int     // the last line with the beginning of a JSON text that is too long, 0 for none
}

// finder is the matcher of one metric or of several.
type finder struct {
	match  matcher
	closes bool // what it finds has an end of its own, and is whole wherever the line ends
}

// joiner adds to a stream what finds a metric by a rule.
type joiner func(m *searched, rule Rule)

// alone gives each metric a matcher of its own, which keeps no state.
func alone(own matcher) joiner {
	return func(m *searched, _ Rule) {
		m.all = append(m.all, finder{match: func(l line, found []occurrence) []occurrence {
			mine := len(found)
			found = own(l, found)
			for i := range found[mine:] {
				found[mine+i].metric = m.metric
			}
			return found
		}})
	}
}

// search adds the search for a metric.
func (s *stream) search(metric int, p *Pattern) {
	m := &searched{stream: s, metric: metric, pick: p.rule.Pick, read: p.Reads(s.source)}
	s.metrics[metric] = m
	if p.join != nil {
		p.join(m, p.rule)
	}
	if p.step != nil {
		if s.steps[p.rule.Step] == nil {
			s.steps[p.rule.Step] = &stepFinder{match: p.step}
		}
		m.steps = s.steps[p.rule.Step]
	}
}

// lineCount counts the lines so far, by LF; a last line without one counts.
func (s *stream) lineCount() int {
	if s.open {
		return s.number + 1
	}
	return s.number
}

// sharedMatcher gives what finds all metrics that have this in common.
func sharedMatcher[M interface {
	match(line, []occurrence) []occurrence
}](s *stream, common string, fresh M, closes bool) M {
	if have, ok := s.shared[common]; ok {
		return have.(M)
	}
	s.shared[common] = fresh
	s.all = append(s.all, finder{fresh.match, closes})
	return fresh
}

// look finds what a line has, and keeps of it what may decide the values.
func (s *stream) look(l line) {
	s.found = s.found[:0]
	for _, f := range s.all {
		if f.closes || !l.torn {
			s.found = f.match(l, s.found)
		}
	}
	for _, steps := range s.steps {
		steps.look(l)
	}
	for _, o := range s.found {
		m := s.metrics[o.metric]
		o.source, o.gaps = s.source, s.gaps
		if o.line == 0 {
			o.line = l.number
		}
		if m.steps != nil && !o.hasStep {
			o.step, o.hasStep = m.steps.at(o.at)
		}
		m.add(l, o)
		if s.show != nil {
			s.show(l, o)
		}
	}
}

// searched is a stream that is searched for a metric, and what was found.
type searched struct {
	*stream
	metric int
	pick   string
	steps  *stepFinder // nil where no step is to be looked for
	read   bool        // whether the rule takes readings from here
	folds  []*fold     // one for each qualifier, in the order of appearance
	why    explainer   // nil for none
}

// Of a metric with more qualifiers than these the others are not told apart.
const (
	maxQualifiers = 32
	manyOthers    = qualifier("another")
)

func (m *searched) add(l line, o occurrence) {
	o.printed = clip(o.token(l.text)) // the line is not kept
	m.fold(o.qualifier).add(o)
	if o.kind != finite && o.kind != nonFinite {
		return
	}
	lacks := func(m *searched) bool { return m != nil && !slices.ContainsFunc(m.folds, (*fold).hasReading) }
	if m.sample != nil && !slices.ContainsFunc(m.metrics, lacks) {
		m.sample = nil
	}
	// The rule means the readings without a qualifier, or those with the only one so far.
	other := func(f *fold) bool { return f.hasReading() && f.qualifier != o.qualifier }
	if m.emit != nil && m.read && (o.qualifier == unqualified || !slices.ContainsFunc(m.folds, other)) {
		m.emit(o.reading(o.printed))
	}
}

// fold gives the fold of the occurrences with qualifier q.
func (m *searched) fold(q qualifier) *fold {
	if m.known(q) == nil && len(m.folds) >= maxQualifiers {
		q = manyOthers
	}
	f := m.known(q)
	if f == nil {
		f = &fold{qualifier: q, pick: m.pick}
		m.folds = append(m.folds, f)
	}
	return f
}

// known gives the fold of qualifier q if there is one.
func (m *searched) known(q qualifier) *fold {
	for _, f := range m.folds {
		if f.qualifier == q {
			return f
		}
	}
	return nil
}
