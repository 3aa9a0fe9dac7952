package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"unicode/utf8"
)

// Format and Version stand in the first line of every journal.
const (
	Format  = "lbotune-journal"
	Version = 1
)

const notFirst = "it is not the first line of an " + Format

// MaxLine is the longest line that is written or read, in bytes, its end not counted.
const MaxLine = 16 << 20

const (
	// firstLine is how every journal of every version begins; the version follows.
	firstLine = `{"seq":1,"format":"` + Format + `","version":`
	sealStart = `,"crc":"`
	sealEnd   = `"}`
	sealLen   = len(sealStart) + 8 + len(sealEnd)
)

// Is reports whether a text begins as every journal does.
func Is(text []byte) bool { return bytes.HasPrefix(text, []byte(firstLine)) }

// A chain is what the next line must continue: number and checksum of the one before.
type chain struct {
	seq uint64
	crc uint32
}

// seal appends the line that records object, a compact JSON object, and its line end.
func (c *chain) seal(dst, object []byte) []byte {
	start := len(dst)
	dst = appendSeq(dst, c.seq+1)
	if c.seq == 0 {
		dst = strconv.AppendInt(append(dst[:start], firstLine...), Version, 10)
	}
	if fields := object[1 : len(object)-1]; len(fields) > 0 {
		dst = append(dst, ',')
		dst = append(dst, fields...)
	}
	c.seq++
	c.crc = crc32.Update(c.crc, crc32.IEEETable, dst[start:])
	return append(appendSeal(dst, c.crc), '\n')
}

// follow reports whether line, without its end, was written after c, and moves c on.
func (c *chain) follow(line []byte) bool {
	var scratch [32]byte
	start := append(appendSeq(scratch[:0], c.seq+1), ',')
	if len(line) < sealLen || len(line) > MaxLine || !bytes.HasPrefix(line, start) {
		return false
	}
	body, seal := line[:len(line)-sealLen], line[len(line)-sealLen:]
	crc := crc32.Update(c.crc, crc32.IEEETable, body)
	if !bytes.Equal(seal, appendSeal(scratch[:0], crc)) {
		return false
	}
	c.seq++
	c.crc = crc
	return true
}

// followStart is follow for the start of tail: the last bytes of a file, after
// which no line end came. It returns the length of the record that they begin with.
func (c *chain) followStart(tail []byte) (length int, ok bool) {
	at := bytes.LastIndex(tail, []byte(sealStart))
	if at < 0 || len(tail) < at+sealLen {
		return 0, false
	}
	return at + sealLen, c.follow(tail[:at+sealLen])
}

// complaint says why line does not follow c.
func (c *chain) complaint(line []byte) string {
	switch {
	case len(line) == 0:
		return "the line is empty"
	case len(line) > MaxLine:
		return fmt.Sprintf("the line is longer than %d bytes", MaxLine)
	case bytes.HasPrefix(line, []byte("\xef\xbb\xbf")):
		return "it begins with a byte order mark: an editor has saved the file"
	case bytes.HasSuffix(line, []byte("\r")):
		return "it ends in CR LF: an editor or a transfer has changed the line ends"
	case bytes.IndexByte(line, 0) >= 0:
		return "it has zero bytes in it"
	case c.seq == 0 && !Is(line):
		return notFirst
	}
	switch seq, ok := claimedSeq(line); {
	case !ok:
		return "it does not begin with " + string(appendSeq(nil, c.seq+1))
	case seq != c.seq+1:
		return fmt.Sprintf("record %d stands where record %d belongs", seq, c.seq+1)
	}
	body := line[:max(0, len(line)-sealLen)]
	crc, sealed := bytes.CutPrefix(line[len(body):], []byte(sealStart))
	crc, closed := bytes.CutSuffix(crc, []byte(sealEnd))
	if !sealed || !closed {
		return "it does not end in a checksum"
	}
	return fmt.Sprintf("its checksum is %q, and that of its content after the lines before it \"%08x\"",
		crc, crc32.Update(c.crc, crc32.IEEETable, body))
}

// claimedSeq reads the number that line gives itself.
func claimedSeq(line []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	if !ok {
		return 0, false
	}
	digits, _, ok := bytes.Cut(rest[:min(len(rest), 21)], []byte(","))
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	return seq, err == nil
}

func appendSeq(dst []byte, seq uint64) []byte {
	dst = append(dst, `{"seq":`...)
	return strconv.AppendUint(dst, seq, 10)
}

func appendSeal(dst []byte, crc uint32) []byte {
	return fmt.Appendf(dst, sealStart+"%08x"+sealEnd, crc)
}

// encode appends the lines that record values after c, or on an error nothing.
func (c *chain) encode(dst []byte, values []any) ([]byte, error) {
	next, out := *c, dst
	for _, v := range values {
		object, err := marshal(v)
		if err == nil {
			err = checkKeys(object, next.seq == 0)
		}
		if err != nil {
			return dst, fmt.Errorf("encode record %d: %w", next.seq+1, err)
		}
		before := len(out)
		out = next.seal(out, object)
		if n := len(out) - before - 1; n > MaxLine {
			return dst, fmt.Errorf("encode record %d: it takes %d bytes, more than the %d of the longest line", next.seq, n, MaxLine)
		}
	}
	*c = next
	return out, nil
}

// marshal returns v as compact JSON in valid UTF-8. The encoder replaces the
// invalid bytes of strings by U+FFFD, and so is done here with those that come out
// of a json.RawMessage or a Marshaler, where they can only stand inside strings.
func marshal(v any) ([]byte, error) {
	object, err := Plain(v)
	if err == nil && object[0] != '{' {
		err = fmt.Errorf("%T is not a JSON object: %.40s", v, object)
	}
	if err != nil || utf8.Valid(object) {
		return object, err
	}
	return bytes.ToValidUTF8(object, []byte("\uFFFD")), nil
}

// Plain is v as compact JSON in which <, > and & are as they are.
func Plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// checkKeys refuses an object that has a top-level key which the journal writes itself.
func checkKeys(object []byte, first bool) error {
	reserved := []string{"seq", "crc"}
	if first {
		reserved = append(reserved, "format", "version")
	}
	for _, key := range reserved {
		if !bytes.Contains(object, []byte(`"`+key+`":`)) {
			continue // the usual case, without a second parse
		}
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(object, &fields) // it is an object: it was marshalled a moment ago
		if _, ok := fields[key]; ok {
			return errors.New(`it has a field "` + key + `", a name that the journal keeps for itself`)
		}
	}
	return nil
}
