package optimizer

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// WordOrNumber is a setting that is either a word, such as "auto", or a
// number. The zero WordOrNumber is neither and means the default.
type WordOrNumber struct {
	word     string
	number   float64
	isNumber bool
}

// Word returns the setting that holds a word.
func Word(w string) WordOrNumber { return WordOrNumber{word: w} }

// Number returns the setting that holds a number.
func Number(x float64) WordOrNumber { return WordOrNumber{number: x, isNumber: true} }

// Number returns the number, and false if s holds a word or nothing.
func (s WordOrNumber) Number() (float64, bool) { return s.number, s.isNumber }

// problem says what is wrong with s, given the allowed words; numbers must be
// finite and not negative.
func (s WordOrNumber) problem(words []string) string {
	switch {
	case s.isNumber && (!(s.number >= 0) || math.IsInf(s.number, 0)):
		return fmt.Sprintf("found %v; want a number that is not negative, or %s", s.number, list(words))
	case s.word != "" && !slices.Contains(words, s.word):
		return fmt.Sprintf("found %q; allowed are %s and a number", s.word, list(words))
	}
	return ""
}

// MarshalJSON writes a JSON number or string.
func (s WordOrNumber) MarshalJSON() ([]byte, error) {
	if s.isNumber {
		return json.Marshal(s.number)
	}
	return json.Marshal(s.word)
}

// UnmarshalJSON reads a JSON number or string.
func (s *WordOrNumber) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	return s.UnmarshalTOML(v)
}

// UnmarshalTOML takes a decoded TOML number or string.
func (s *WordOrNumber) UnmarshalTOML(v any) error {
	switch v := v.(type) {
	case string:
		*s = Word(v)
	case int64:
		*s = Number(float64(v))
	case float64:
		*s = Number(v)
	default:
		return fmt.Errorf("found %v; want a number or a word", v)
	}
	return nil
}
