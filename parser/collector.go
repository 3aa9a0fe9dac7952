package parser

import "slices"

// Collector folds the readings of one trial into the values of its metrics. Give
// it every stream there is, also those that no rule reads: they serve to say where
// a metric is when it is not where its rule looks.
type Collector struct {
	patterns []*Pattern
	streams  []*stream
}

// NewCollector returns a collector for one trial. It finds the metrics of all
// patterns in one pass; they are known by their indices.
func NewCollector(patterns ...*Pattern) *Collector { return &Collector{patterns: patterns} }

// Scanner returns a scanner for one of the trial's streams. Scanners of one
// collector share nothing, and each may have its own goroutine; call Scanner
// and Result while none of them runs. A source may have several scanners, read
// in the order of their making, as with a log that was rotated.
//
// The stream is searched for the metrics that are named by their indices, or for
// all if none is named: metrics may come from several files.
//
// Each reading that may become a trial's value is given to emit, which may be
// nil, as soon as its line has ended: what a pruner wants.
func (c *Collector) Scanner(source Source, emit func(Reading), metrics ...int) *Scanner {
	if len(metrics) == 0 {
		for metric := range c.patterns {
			metrics = append(metrics, metric)
		}
	}
	s := &stream{source: source, emit: emit, metrics: make([]*searched, len(c.patterns))}
	s.scanner = newScanner(newMatchers(c.patterns, metrics), s.add)
	s.scanner.sample = &sample{}
	for _, metric := range metrics {
		p := c.patterns[metric]
		s.metrics[metric] = &searched{stream: s, pick: p.rule.Pick, read: p.Reads(source), why: s.scanner.matchers.why[metric]}
	}
	c.streams = append(c.streams, s)
	return s.scanner
}

// Reads reports whether the rule takes readings from source.
func (p *Pattern) Reads(source Source) bool {
	return p.rule.Source == source || p.rule.Source == both && source != File
}

// stream is what a collector knows of one stream. Its scanner has a sample until every metric
// has a reading.
type stream struct {
	source  Source
	scanner *Scanner
	emit    func(Reading)
	metrics []*searched // nil for those that are not searched
}

// searched is a stream that is searched for a metric, and what was found.
type searched struct {
	*stream
	pick  string
	read  bool      // whether the metric's rule takes readings from here
	folds []*fold   // one for each qualifier, in the order of appearance
	why   explainer // nil for none
}

// Of a metric with more qualifiers than these the others are not told apart.
const (
	maxQualifiers = 32
	manyOthers    = qualifier("another")
)

// fold gives the fold of the occurrences with qualifier q.
func (m *searched) fold(q qualifier) *fold {
	f := m.known(q)
	if f == nil && len(m.folds) >= maxQualifiers {
		q = manyOthers
		f = m.known(q)
	}
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

func (s *stream) add(l line, o occurrence) {
	m := s.metrics[o.metric]
	o.gaps = s.scanner.gaps
	m.fold(o.qualifier).add(o, l.text)
	if o.kind != finite && o.kind != nonFinite {
		return
	}
	if s.scanner.sample != nil && !slices.ContainsFunc(s.metrics, func(m *searched) bool { return m != nil && !m.any() }) {
		s.scanner.sample = nil
	}
	if s.emit != nil && m.read && m.meant(o.qualifier) {
		s.emit(o.reading(l.text, s.source))
	}
}

// any reports whether there is a reading.
func (m *searched) any() bool {
	return slices.ContainsFunc(m.folds, func(f *fold) bool { return f.readings() > 0 })
}

// meant reports whether the readings with qualifier q are, as far as is known,
// the ones that the rule means.
func (m *searched) meant(q qualifier) bool {
	return q == unqualified ||
		!slices.ContainsFunc(m.folds, func(f *fold) bool { return f.readings() > 0 && f.qualifier != q })
}
