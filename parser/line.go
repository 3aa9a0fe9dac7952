package parser

// line is one line as a matcher sees it: without its end, without ANSI
// sequences.
type line struct {
	text   []byte // valid until the matcher returns
	number int    // counted by LF from 1
	cut    bool   // the line was longer than maxLine; text is its beginning
	torn   bool   // the line may go on: its writer was ended before its end
}

// blank reports whether nothing is printed on the line.
func (l line) blank() bool { return skipBlanks(l.text, 0) == len(l.text) }

// occurrence is one place where a rule found its metric, readable or not.
type occurrence struct {
	metric    int // whose it is: the index of a pattern in its collector
	kind      kind
	value     float64
	line      int
	at, end   int // the value's bytes in the line's text
	step      float64
	hasStep   bool
	qualifier qualifier
	gaps      int    // in the stream before it
	status    string // what a failed occurrence says of its trial: that it crashed
	part      string // the part of the number that a regular expression captured
	printed   string // the value's text when it is not in the line as it stands
}

// token gives the value's text.
func (o *occurrence) token(text []byte) []byte {
	if o.printed != "" {
		return []byte(o.printed)
	}
	return text[o.at:o.end]
}

// matcher finds the occurrences of one or more metrics in one stream, line by
// line. A matcher belongs to one Scanner and may keep state between lines.
type matcher interface {
	// needles lists strings of which a line must contain one to be worth a
	// look; nil asks for every line.
	needles() [][]byte
	// match appends the line's occurrences to found, those of each metric in
	// the order of the line.
	match(l line, found []occurrence) []occurrence
}
