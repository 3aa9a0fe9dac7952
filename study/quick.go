package study

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/lbotune/lbotune/internal/journal"
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
	c.field(`{"seq":`)
	c.must(`,"type":`)
	e.Type = kind(c.text())
	c.must(`,"at":`)
	e.At = string(c.plain())
	c.must(`,"elapsed":`)
	e.Elapsed = c.float()
	return e
}

// event reads the rest of a line if its event is one of those that large studies are full
// of; else, and where it is lost, there is none.
func (c *cutter) event(t kind) (ev Event) {
	switch t {
	case Proposed{}.kind():
		e := Proposed{Trial: c.field(`,"trial":`), Told: c.field(`,"told":`), Pending: []int{}}
		c.must(`,"pending":[`)
		for c.more("]", len(e.Pending)) {
			e.Pending = append(e.Pending, c.integer())
		}
		c.must(`,"origin":`)
		e.Origin = optimizer.Origin(c.text())
		c.must(`,"values":{`)
		commas := bytes.Count(c.rest[:max(bytes.IndexByte(c.rest, '}'), 0)], []byte(","))
		for e.Values = make(spaces.Values, 0, 1+commas); c.more("}", len(e.Values)); { // of which most of a study's memory is made
			e.Values = append(e.Values, spaces.Assignment{Name: c.name(), Value: c.value()})
		}
		c.must(`,"note":`)
		c.note(&e.Note)
		e.Hand = c.may(`,"hand":true`)
		e.Continues = maybe(c, `,"continues":`, (*cutter).integer)
		e.With = maybe(c, `,"with":`, (*cutter).integer)
		ev = e
	case Started{}.kind():
		e := Started{Trial: c.field(`,"trial":`), Attempt: c.field(`,"attempt":`), Slot: c.field(`,"slot":`)}
		e.Host = maybe(c, `,"host":`, (*cutter).text)
		e.Waited = maybe(c, `,"waited":`, (*cutter).float)
		e.Rejoined = c.may(`,"rejoined":true`)
		ev = e
	case Measured{}.kind():
		e := Measured{Trial: c.field(`,"trial":`), Attempt: c.field(`,"attempt":`), Measurements: []Measurement{}}
		c.must(`,"measurements":[`)
		for c.more("]", len(e.Measurements)) {
			c.must(`{"step":`)
			m := Measurement{Step: c.float()}
			m.Seconds = maybe(c, `,"seconds":`, (*cutter).float)
			c.must(`,"metrics":{`)
			m.Metrics = c.metrics()
			c.must("}")
			e.Measurements = append(e.Measurements, m)
		}
		ev = e
	case Readings{}.kind():
		e := Readings{Trial: c.field(`,"trial":`), Attempt: c.field(`,"attempt":`), Readings: []Reading{}}
		c.must(`,"readings":[`)
		for c.more("]", len(e.Readings)) {
			c.must("[")
			r := Reading{Step: c.reading()}
			c.must(",")
			r.Value = c.reading()
			for c.may(",") {
				r.Others = append(r.Others, c.reading())
			}
			c.must("]")
			e.Readings = append(e.Readings, r)
		}
		ev = e
	case Finished{}.kind():
		e := Finished{Trial: c.field(`,"trial":`), Attempt: c.field(`,"attempt":`), Slot: c.field(`,"slot":`)}
		c.must(`,"status":`)
		e.Status = optimizer.Status(c.text())
		e.Metrics = maybe(c, `,"metrics":{`, (*cutter).metrics)
		if c.may(`,"failure":`) {
			c.object(&e.Failure)
		}
		c.must(`,"seconds":`)
		e.Seconds = c.float()
		e.Leftovers = maybe(c, `,"leftovers":`, (*cutter).text)
		ev = e
	}
	c.must(`,"crc":`)
	c.plain()
	if c.must(`}`); c.lost || len(c.rest) > 0 {
		return nil
	}
	return ev
}

// metrics reads what is left of metrics after the brace.
func (c *cutter) metrics() Metrics {
	m := Metrics{}
	for c.more("}", len(m)) {
		m[c.name()] = c.reading()
	}
	return m
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

// maybe reads what stands behind s if that is next.
func maybe[T any](c *cutter, s string, read func(*cutter) T) (v T) {
	if c.may(s) {
		v = read(c)
	}
	return v
}

func (c *cutter) must(s string) { c.lost = !c.may(s) || c.lost }

// more reports whether a list of which n are read goes on, and skips what ends or separates it.
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
	return c.integer()
}

func (c *cutter) integer() int {
	n, err := strconv.Atoi(string(c.scalar()))
	c.lost = c.lost || err != nil
	return n
}

func (c *cutter) float() float64 {
	x, err := strconv.ParseFloat(string(c.scalar()), 64)
	c.lost = c.lost || err != nil
	return x
}

func (c *cutter) reading() float64 {
	if !bytes.HasPrefix(c.rest, []byte(`"`)) {
		return c.float()
	}
	var f journal.Float
	c.lost = f.UnmarshalJSON(c.scalar()) != nil || c.lost
	return float64(f)
}

func (c *cutter) value() spaces.Value {
	switch {
	case c.may("true"):
		return spaces.Bool(true)
	case c.may("false"):
		return spaces.Bool(false)
	case bytes.HasPrefix(c.rest, []byte(`"`)):
		return spaces.String(c.text())
	}
	before := c.rest
	text := c.scalar()
	if c.rest = before; bytes.IndexByte(text, '.') < 0 && bytes.IndexByte(text, 'e') < 0 {
		return spaces.Int(int64(c.integer()))
	}
	return spaces.Float(c.float())
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

// plain reads a text, and returns what stands between its quotes.
func (c *cutter) plain() []byte {
	text := c.scalar()
	if len(text) < 2 || text[0] != '"' {
		c.lost = true
		return nil
	}
	return text[1 : len(text)-1]
}

// scalar reads a text without escapes or a number as it is written.
func (c *cutter) scalar() []byte {
	if bytes.HasPrefix(c.rest, []byte(`"`)) {
		n := bytes.IndexByte(c.rest[1:], '"') + 2
		text := c.rest[:n]
		c.rest = c.rest[n:]
		c.lost = c.lost || n == 1 || !utf8.Valid(text) || slices.ContainsFunc(text, func(b byte) bool { return b == '\\' || b < ' ' })
		return text
	}
	n := 0
	for n < len(c.rest) && ('-' <= c.rest[n] && c.rest[n] <= '9' && c.rest[n] != '/' || c.rest[n] == 'e' || c.rest[n] == 'E' || c.rest[n] == '+') {
		n++
	}
	text := c.rest[:n]
	c.rest = c.rest[n:]
	c.lost = c.lost || loose(text)
	return text
}

// loose reports whether strconv may take for a number what is none in JSON: +1, 01, .5 or 1.
func loose(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("-"))
	digit := func(i int) bool { return i < len(text) && '0' <= text[i] && text[i] <= '9' }
	point := bytes.IndexByte(text, '.')
	return !digit(0) || text[0] == '0' && digit(1) || point >= 0 && !digit(point+1)
}

// name reads a member's name and the colon.
func (c *cutter) name() string {
	s := c.text()
	c.must(":")
	return s
}

// object has the JSON decoder read the object that is next.
func (c *cutter) object(into any) {
	in := json.NewDecoder(bytes.NewReader(c.rest))
	c.lost = c.lost || !bytes.HasPrefix(c.rest, []byte("{")) || in.Decode(into) != nil
	c.rest = c.rest[in.InputOffset():]
}
