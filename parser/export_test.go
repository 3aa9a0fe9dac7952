package parser

// MaxLine is how much of a line is looked at.
const MaxLine = maxLine

// Lines is lineCount.
func (s *Scanner) Lines() int { return s.lineCount() }

// Scanner returns a scanner that calls emit with each reading as soon as its
// line has ended. Readings that are not finite are emitted too.
func (p *Pattern) Scanner(emit func(Reading)) *Scanner {
	s := NewCollector(p).Scanner("", nil)
	s.show = func(l line, o occurrence) {
		if o.kind == finite || o.kind == nonFinite {
			emit(o.reading(clip(o.token(l.text))))
		}
	}
	return s
}
