package study

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/lbotune/lbotune/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

// A cutter reads a line as lbotune writes it: compact, the fields in their order, texts
// without escapes. A line of any other form is lost to it, and left to the JSON decoder,
// so that the two never differ.
type cutter struct {
	rest  []byte
	words map[string]string // the texts so far, each of which is kept once; nil for none
	lost  bool
}

// envelope reads what stands before an event's own fields.
func (c *cutter) envelope() (e envelope) {
	c.must(`{"seq":`)
	c.number()
	c.must(`,"type":`)
	e.Type = Type(c.text())
	c.must(`,"at":`)
	e.At = string(c.plain())
	c.must(`,"elapsed":`)
	e.Elapsed = c.float()
	return e
}

// event reads the rest of a line if its event is one of those that large studies are full
// of; else, and where it is lost, there is none.
func (c *cutter) event(t Type) (ev Event) {
	switch t {
	case TypeProposed:
		e := Proposed{Trial: c.field(`,"trial":`), Told: c.field(`,"told":`), Pending: []int{}}
		c.must(`,"pending":[`)
		for c.more("]", len(e.Pending)) {
			e.Pending = append(e.Pending, int(c.integer()))
		}
		c.must(`,"origin":`)
		e.Origin = optimizer.Origin(c.text())
		c.must(`,"values":{`)
		for e.Values = make(spaces.Values, 0, 1); c.more("}", len(e.Values)); {
			e.Values = append(e.Values, spaces.Assignment{Name: c.name(), Value: c.value()})
		}
		c.must(`,"note":`)
		c.note(&e.Note)
		e.Hand, e.Continues = c.may(`,"hand":true`), c.optional(`,"continues":`)
		ev = e
	case TypeStarted:
		e := Started{Trial: c.field(`,"trial":`), Attempt: c.field(`,"attempt":`), Slot: c.field(`,"slot":`)}
		if c.may(`,"host":`) {
			e.Host = c.text()
		}
		if c.may(`,"waited":`) {
			e.Waited = c.float()
		}
		e.Rejoined = c.may(`,"rejoined":true`)
		ev = e
	case TypeFinished:
		e := Finished{Trial: c.field(`,"trial":`), Attempt: c.field(`,"attempt":`), Slot: c.field(`,"slot":`)}
		c.must(`,"status":`)
		e.Status = optimizer.Status(c.text())
		if c.may(`,"metrics":{`) {
			for e.Metrics = make(Metrics); c.more("}", len(e.Metrics)); {
				e.Metrics[c.name()] = c.reading()
			}
		}
		if c.may(`,"failure":`) {
			c.object(&e.Failure)
		}
		c.must(`,"seconds":`)
		e.Seconds = c.float()
		if c.may(`,"leftovers":`) {
			e.Leftovers = c.text()
		}
		ev = e
	}
	c.must(`,"crc":`)
	c.plain()
	if c.must(`}`); c.lost || len(c.rest) > 0 {
		return nil
	}
	return ev
}

// note reads a note, of which in large studies hardly any says more than why.
func (c *cutter) note(n *optimizer.Note) {
	whole := c.rest
	if c.may(`{"why":`) {
		n.Why = c.text()
	} else {
		c.must(`{`)
	}
	if !c.may(`}`) {
		c.rest = whole
		c.object(n)
	}
}

// may skips s if it is next.
func (c *cutter) may(s string) bool {
	if len(c.rest) < len(s) || string(c.rest[:len(s)]) != s {
		return false
	}
	c.rest = c.rest[len(s):]
	return true
}

// must skips s.
func (c *cutter) must(s string) { c.lost = !c.may(s) || c.lost }

// more reports whether a list of which n are read goes on, and skips what ends or
// separates it.
func (c *cutter) more(end string, n int) bool {
	if c.lost || c.may(end) {
		return false
	}
	if n > 0 {
		c.must(",")
	}
	return true
}

func (c *cutter) field(key string) int {
	c.must(key)
	return int(c.integer())
}

func (c *cutter) optional(key string) int {
	if c.may(key) {
		return int(c.integer())
	}
	return 0
}

// number reads what JSON calls a number, and reports whether it is written as an integer.
func (c *cutter) number() (text []byte, whole bool) {
	b, n := c.rest, 0
	next := func(low, high byte) bool {
		if n == len(b) || b[n] < low || b[n] > high {
			return false
		}
		n++
		return true
	}
	digits := func() {
		c.lost = !next('0', '9') || c.lost
		for next('0', '9') {
		}
	}
	next('-', '-')
	if !next('0', '0') {
		digits()
	}
	whole = true
	if next('.', '.') {
		whole = false
		digits()
	}
	if next('e', 'e') || next('E', 'E') {
		whole = false
		_ = next('+', '+') || next('-', '-')
		digits()
	}
	c.rest = b[n:]
	return b[:n], whole
}

func (c *cutter) integer() int64 {
	text, whole := c.number()
	n, err := strconv.ParseInt(string(text), 10, 64)
	c.lost = c.lost || !whole || err != nil || int64(int(n)) != n
	return n
}

func (c *cutter) float() float64 {
	text, _ := c.number()
	x, err := strconv.ParseFloat(string(text), 64)
	c.lost = c.lost || err != nil
	return x
}

// reading reads a journal.Float.
func (c *cutter) reading() journal.Float {
	switch {
	case c.may(`"NaN"`):
		return journal.Float(math.NaN())
	case c.may(`"Infinity"`):
		return journal.Float(math.Inf(1))
	case c.may(`"-Infinity"`):
		return journal.Float(math.Inf(-1))
	}
	return journal.Float(c.float())
}

// value reads a parameter's value.
func (c *cutter) value() spaces.Value {
	switch {
	case c.may("true"):
		return spaces.Bool(true)
	case c.may("false"):
		return spaces.Bool(false)
	case len(c.rest) > 0 && c.rest[0] == '"':
		return spaces.String(c.text())
	}
	before := c.rest
	if _, whole := c.number(); whole {
		c.rest = before
		return spaces.Int(c.integer())
	}
	c.rest = before
	return spaces.Float(c.float())
}

// plain reads a text without escapes.
func (c *cutter) plain() []byte {
	c.must(`"`)
	for n, b := range c.rest {
		switch {
		case b == '"' && utf8.Valid(c.rest[:n]):
			text := c.rest[:n]
			c.rest = c.rest[n+1:]
			return text
		case b == '"' || b == '\\' || b < ' ':
			c.lost = true
			return nil
		}
	}
	c.lost = true
	return nil
}

// text is plain as a string.
func (c *cutter) text() string {
	b := c.plain()
	if known, ok := c.words[string(b)]; ok {
		return known
	}
	s := string(b)
	if c.words != nil {
		c.words[s] = s
	}
	return s
}

// name reads a member's name and the colon.
func (c *cutter) name() string {
	s := c.text()
	c.must(":")
	return s
}

// object has the JSON decoder read the object that is next.
func (c *cutter) object(into any) {
	depth, quoted, n := 0, false, 0
	for ; n < len(c.rest) && (depth > 0 || n == 0); n++ {
		switch b := c.rest[n]; {
		case quoted && b == '\\':
			n++
		case b == '"':
			quoted = !quoted
		case !quoted && b == '{':
			depth++
		case !quoted && b == '}':
			depth--
		}
	}
	n = min(n, len(c.rest))
	c.lost = c.lost || n < 2 || json.Unmarshal(c.rest[:n], into) != nil
	c.rest = c.rest[n:]
}
