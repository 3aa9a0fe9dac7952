package parser

import (
	"bytes"

	"github.com/lbotune/lbotune/internal/ansi"
)

// search finds the next place in a block where one of several strings stands,
// and remembers the places that it has passed over.
type search struct {
	needles [][]byte
	at      []int // the next place of each needle; len(block) for none
	block   []byte
}

// newSearch looks for the needles and for escape sequences, which may hide one.
// Without needles it is nil, and stops everywhere.
func newSearch(needles [][]byte) *search {
	s := &search{}
	for _, needle := range needles {
		if len(needle) == 0 {
			return nil
		}
		s.needles = append(s.needles, needle)
	}
	if len(s.needles) == 0 {
		return nil
	}
	s.needles = append(s.needles, []byte{ansi.Escape})
	s.at = make([]int, len(s.needles))
	return s
}

func (s *search) reset(block []byte) {
	if s == nil {
		return
	}
	s.block = block
	for i := range s.at {
		s.at[i] = -1
	}
}

// next gives the first place at or after pos where a needle stands, or -1.
func (s *search) next(pos int) int {
	if s == nil {
		return pos
	}
	first := len(s.block)
	for i, needle := range s.needles {
		if s.at[i] < pos {
			s.at[i] = len(s.block)
			if found := bytes.Index(s.block[pos:], needle); found >= 0 {
				s.at[i] = pos + found
			}
		}
		first = min(first, s.at[i])
	}
	if first == len(s.block) {
		return -1
	}
	return first
}
