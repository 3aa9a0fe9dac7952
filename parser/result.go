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
	ordered := all.pick == pickFirst || all.pick == pickLast // which between stdout and stderr is not known
	for _, s := range m.streams {
		f := s.known(chosen)
		if f == nil {
			continue
		}
		if !all.last.empty() && all.last.source != s.source && ordered {
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

// series chooses among metrics of the same name with different qualifiers: the
// one without, else the only one. Several are rivals.
func (m *metric) series() (chosen qualifier, rivals []qualifier) {
	most := 0
	for _, s := range m.streams {
		for _, f := range s.folds {
			if f.worth() > most {
				most, rivals = f.worth(), nil
			}
			if f.worth() == most && !slices.Contains(rivals, f.qualifier) {
				rivals = append(rivals, f.qualifier)
			}
		}
	}
	switch {
	case len(rivals) == 0, most > 0 && slices.Contains(rivals, unqualified):
		return unqualified, nil
	case most == 0: // none has a value
		return rivals[0], nil
	}
	return rivals[0], rivals
}
