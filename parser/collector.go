package parser

// Collector folds the readings of one trial into its value. Give it every
// stream there is, also those that the rule does not read: they serve to say
// where the metric is when it is not where the rule looks.
type Collector struct {
	pattern *Pattern
	streams []*stream
}

// Collector returns a collector for one trial.
func (p *Pattern) Collector() *Collector { return &Collector{pattern: p} }

// Scanner returns a scanner for one of the trial's streams. Scanners of one
// collector share nothing, and each may have its own goroutine; call Scanner
// and Result while none of them runs. A source may have several scanners, read
// in the order of their making, as with a log that was rotated.
//
// Each reading that may become the trial's value is given to emit, which may
// be nil, as soon as its line has ended: what a pruner wants.
func (c *Collector) Scanner(source Source, emit func(Reading)) *Scanner {
	s := &stream{source: source, sample: &sample{}}
	if c.pattern.reads(source) {
		s.emit = emit
	}
	s.scanner = newScanner(c.pattern, s.add)
	s.scanner.tap = s.sample.add
	s.scanner.gap = func() { s.gaps++ }
	c.streams = append(c.streams, s)
	return s.scanner
}

// reads reports whether the rule takes readings from source.
func (p *Pattern) reads(source Source) bool {
	return p.rule.Source == source || p.rule.Source == Both && source != File
}

// stream is what a collector knows of one stream.
type stream struct {
	source  Source
	scanner *Scanner
	emit    func(Reading)
	folds   [qualifiers]*fold
	gaps    int     // so far
	sample  *sample // nil once there is a reading
}

func (s *stream) add(l line, o occurrence) {
	f := s.folds[o.qualifier]
	if f == nil {
		f = &fold{}
		s.folds[o.qualifier] = f
	}
	o.gaps = s.gaps
	f.add(o, l.text)
	if o.kind != finite && o.kind != nonFinite {
		return
	}
	s.sample, s.scanner.tap = nil, nil
	if s.emit != nil && s.meant(o.qualifier) {
		s.emit(o.reading(l.text, s.source))
	}
}

// meant reports whether the readings with qualifier q are, as far as is known,
// the ones that the rule means.
func (s *stream) meant(q Qualifier) bool {
	if q == Unqualified {
		return true
	}
	for other, f := range s.folds {
		if f != nil && f.readings() > 0 && Qualifier(other) != q {
			return false
		}
	}
	return true
}

// Result is a trial's value and where it comes from.
type Result struct {
	Value     float64 // finite
	Reading   Reading // the reading that was picked; with PickMean the last one
	Count     int     // readings, finite or not
	NonFinite int     // those that were nan or infinite
	Lines     int     // lines in the streams that the rule reads
}

// Result gives the trial's value once the scanners are closed. The error is a
// [*NoValueError].
func (c *Collector) Result() (Result, error) {
	chosen, rivals := c.series()
	if len(rivals) > 1 {
		return Result{}, c.ambiguousNames(rivals)
	}
	var all fold
	lines := 0
	for _, s := range c.streams {
		if !c.pattern.reads(s.source) {
			continue
		}
		lines += s.scanner.Lines()
		f := s.folds[chosen]
		if f == nil {
			continue
		}
		if !all.last.empty() && all.last.source != s.source && c.pattern.ordered() {
			return Result{}, c.ambiguousStreams(&all, f, s.source)
		}
		all.merge(f, s.source)
	}
	picked := all.pick(c.pattern.rule.Pick)
	if picked.kind == finite || picked.kind == unreadable || picked.empty() {
		if e := c.incomplete(picked, lines); e != nil {
			return Result{}, e
		}
	}
	if picked.kind != finite {
		return Result{}, c.noValue(picked, lines)
	}
	return Result{
		Value: picked.value, Reading: picked.reading(),
		Count: all.readings(), NonFinite: all.nonFinite, Lines: lines,
	}, nil
}

// ordered reports whether the pick depends on the order of the readings, which
// is not known between stdout and stderr.
func (p *Pattern) ordered() bool {
	return p.rule.Pick == PickFirst || p.rule.Pick == PickLast
}

// series chooses among metrics of the same name with different qualifiers: the
// one without, else the only one. Several are rivals.
func (c *Collector) series() (chosen Qualifier, rivals []Qualifier) {
	for _, wanted := range []func(*fold) bool{
		func(f *fold) bool { return f.readings() > 0 },
		func(*fold) bool { return true },
	} {
		for q := range qualifiers {
			if c.has(q, wanted) {
				rivals = append(rivals, q)
			}
		}
		switch {
		case len(rivals) == 0:
			continue
		case rivals[0] == Unqualified:
			return Unqualified, nil
		}
		return rivals[0], rivals
	}
	return Unqualified, nil
}

func (c *Collector) has(q Qualifier, wanted func(*fold) bool) bool {
	for _, s := range c.streams {
		if f := s.folds[q]; f != nil && wanted(f) && c.pattern.reads(s.source) {
			return true
		}
	}
	return false
}
