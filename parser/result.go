package parser

import "slices"

// Result is a metric's value and where it comes from.
type Result struct {
	Value   float64 // finite
	Reading Reading // the reading that was picked; of a mean the last one
	Count   int     // readings, finite or not
	Lines   int     // lines in the streams that the rule reads
}

// Result gives the trial's value of a metric once the scanners are closed. The
// error is a [*NoValueError].
func (c *Collector) Result(metric int) (Result, error) {
	return c.metric(metric).result()
}

// metric is what a collector knows of one metric.
type metric struct {
	pattern *Pattern
	streams []*searched // that its rule reads
	others  []*searched
}

func (c *Collector) metric(index int) *metric {
	m := &metric{pattern: c.patterns[index]}
	for _, s := range c.streams {
		switch found := s.metrics[index]; {
		case found == nil:
		case found.read:
			m.streams = append(m.streams, found)
		default:
			m.others = append(m.others, found)
		}
	}
	return m
}

func (m *metric) result() (Result, error) {
	chosen, rivals := m.series()
	if len(rivals) > 1 {
		return Result{}, m.ambiguousNames(rivals)
	}
	all := fold{pick: m.pattern.rule.Pick}
	for _, s := range m.streams {
		f := s.known(chosen)
		if f == nil {
			continue
		}
		if !all.last.empty() && all.last.source != s.source && m.pattern.ordered() {
			return Result{}, m.ambiguousStreams(&all, f, s.source)
		}
		all.merge(f)
	}
	picked := all.picked()
	if picked.kind == finite || picked.kind == unreadable || picked.kind == missing || picked.empty() {
		if e := m.incomplete(picked); e != nil {
			return Result{}, e
		}
	}
	if picked.kind != finite {
		return Result{}, m.noValue(picked)
	}
	return Result{
		Value: picked.value, Reading: picked.reading(picked.printed),
		Count: all.readings(), Lines: m.lines(),
	}, nil
}

// lines counts those of the streams that the rule reads.
func (m *metric) lines() (n int) {
	for _, s := range m.streams {
		n += s.lineCount()
	}
	return n
}

// ordered reports whether the pick depends on the order of the readings, which
// is not known between stdout and stderr.
func (p *Pattern) ordered() bool {
	return p.rule.Pick == pickFirst || p.rule.Pick == pickLast
}

// series chooses among metrics of the same name with different qualifiers: the
// one without, else the only one. Several are rivals.
func (m *metric) series() (chosen qualifier, rivals []qualifier) {
	for _, wanted := range []func(*fold) bool{
		func(f *fold) bool { return f.readings() > 0 },
		func(f *fold) bool { return !f.last.empty() },
	} {
		rivals = m.qualifiers(wanted)
		switch {
		case len(rivals) == 0:
			continue
		case slices.Contains(rivals, unqualified):
			return unqualified, nil
		}
		return rivals[0], rivals
	}
	if without := m.qualifiers(func(*fold) bool { return true }); len(without) > 0 { // a value
		return without[0], nil
	}
	return unqualified, nil
}

// qualifiers lists those that have a wanted fold, in the order of appearance.
func (m *metric) qualifiers(wanted func(*fold) bool) []qualifier {
	var list []qualifier
	for _, s := range m.streams {
		for _, f := range s.folds {
			if wanted(f) && !slices.Contains(list, f.qualifier) {
				list = append(list, f.qualifier)
			}
		}
	}
	return list
}
