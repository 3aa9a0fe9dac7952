package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// encode appends the lines that record values after c. On an error neither c nor
// what dst held has changed.
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
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	object := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if object[0] != '{' {
		return nil, fmt.Errorf("%T is not a JSON object: %.40s", v, object)
	}
	if utf8.Valid(object) {
		return object, nil
	}
	return bytes.ToValidUTF8(object, []byte("\uFFFD")), nil
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
