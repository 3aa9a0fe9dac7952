package parser

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
	s := &Scanner{stream: stream{source: source, emit: emit, metrics: make([]*searched, len(c.patterns)),
		shared: map[string]any{}, steps: map[string]*stepFinder{}, sample: &sample{}}}
	for _, metric := range metrics {
		s.search(metric, c.patterns[metric])
	}
	c.streams = append(c.streams, &s.stream)
	return s
}

// Reads reports whether the rule takes readings from source.
func (p *Pattern) Reads(source Source) bool {
	return p.rule.Source == source || p.rule.Source == both && source != File
}
