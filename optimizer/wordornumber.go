package optimizer

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// WordOrNumber is a setting that is either a word, such as "auto", or a number, such as "0.1".
// An empty one means the default.
type WordOrNumber string

// Number returns the number, and false if s holds a word or nothing.
func (s WordOrNumber) Number() (float64, bool) {
	x, err := strconv.ParseFloat(string(s), 64)
	return x, err == nil
}

// problem says what is wrong with s, given the allowed words; numbers must be
// finite and not negative.
func (s WordOrNumber) problem(words []string) string {
	x, number := s.Number()
	switch {
	case number && (!(x >= 0) || math.IsInf(x, 0)):
		return fmt.Sprintf("found %v; want a number that is not negative, or %s", x, list(words))
	case !number && s != "" && !slices.Contains(words, string(s)):
		return fmt.Sprintf("found %q; allowed are %s and a number", string(s), list(words))
	}
	return ""
}

// MarshalJSON writes a JSON number or string.
func (s WordOrNumber) MarshalJSON() ([]byte, error) {
	if x, number := s.Number(); number {
		return json.Marshal(x)
	}
	return json.Marshal(string(s))
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
		*s = WordOrNumber(v)
		if _, number := s.Number(); !number {
			return nil
		}
	case int64:
		return s.UnmarshalTOML(float64(v))
	case float64:
		*s = WordOrNumber(strconv.FormatFloat(v, 'g', -1, 64))
		return nil
	}
	return fmt.Errorf("found %#v; want a number or a word", v)
}
