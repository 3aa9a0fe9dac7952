package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/internal/pattern"
)

// place is a key's position in the file.
type place struct {
	line, col, length int // from 1; no line if the file does not say what can be shown of it
	order             int // among keys, but for those within arrays, which have none
}

// wordRE matches texts, also one whose end is cut off, comments, signs, and what else has no
// blanks and dots.
var wordRE = pattern.Lazy(`"""(?s:\\.|[^\\])*?"""+|'''(?s:.*?)'''+|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|` +
	`#.*|[\[\]{}=,\n]|[^\s.\[\]{}=,"'#]+`)

type word struct {
	text string
	at   place
}

// wordsOf lists all words but comments, and an empty one at the end.
func wordsOf(src string) []word {
	var out []word
	line, begins := 1, 0
	for _, w := range wordRE().FindAllStringIndex(src, -1) {
		text := src[w[0]:w[1]]
		if text[0] != '#' {
			out = append(out, word{text, place{line: line, col: w[0] - begins + 1, length: len(text)}})
		}
		if last := strings.LastIndexByte(text, '\n'); last >= 0 {
			line += strings.Count(text, "\n")
			begins = w[0] + last + 1
		}
	}
	return append(out, word{})
}

// scanner walks over the words of a TOML file that is known to be right, and notes where each
// key and each element of an array stands. In paths, numbers of elements stand in brackets.
type scanner struct {
	places map[string]place
	words  []word // that are left
	within int    // so many arrays
}

func (s *scanner) scan() {
	var table toml.Key
	elements := map[string]int{}
	for !s.ahead() {
		switch {
		case s.skip("\n"):
		case s.skip("["):
			isArray, at := s.skip("["), s.words[0].at
			if table = s.key(nil, "]"); isArray {
				name := table.String()
				table = s.note(table, at, number(elements[name]))
				elements[name]++
				s.skip("]")
			}
		default:
			s.value(s.key(table, "="))
		}
	}
}

// number is the path of an element of an array in that of the array.
func number(i int) string { return "[" + strconv.Itoa(i) + "]" }

// ahead reports whether the next word is one of some, or there is none.
func (s *scanner) ahead(words ...string) bool {
	return s.words[0].text == "" || slices.Contains(words, s.words[0].text)
}

// next steps over a word.
func (s *scanner) next() word {
	next := s.words[0]
	if next.text != "" {
		s.words = s.words[1:]
	}
	return next
}

// skip steps over the next word if it is this one.
func (s *scanner) skip(text string) bool { return s.words[0].text == text && s.next().text != "" }

// key reads a key of a table, which dots divide, and the word that ends it.
func (s *scanner) key(table toml.Key, end string) toml.Key {
	path := table
	for !s.ahead(end) {
		next := s.next()
		key, at := next.text, next.at
		if strings.ContainsAny(key[:1], `"'`) {
			key = strings.Trim(key, key[:1])
			at.col, at.length = at.col+1, len(key)
			if plain, err := strconv.Unquote(next.text); err == nil {
				key = plain
			}
		}
		if !s.ahead(end) && len(table) > 0 {
			at = place{} // the table's own line tells more
		}
		path = s.note(path, at, key)
	}
	s.next()
	return path
}

// value steps over the value at a path.
func (s *scanner) value(path toml.Key) {
	switch {
	case s.skip("["):
		s.within++
		for i := 0; !s.ahead("]"); {
			switch {
			case s.skip("\n"):
			case s.skip(","):
				i++
			default:
				s.value(s.note(path, s.words[0].at, number(i)))
			}
		}
		s.within--
		s.next()
	case s.skip("{"):
		for !s.ahead("}") {
			if !s.skip("\n") && !s.skip(",") {
				s.value(s.key(path, "="))
			}
		}
		s.next()
	default: // a date and a time of day are two words
		for !s.ahead("\n", ",", "]", "}") {
			s.next()
		}
	}
}

// note notes where a key below a path stands first, and returns its own path.
func (s *scanner) note(above toml.Key, at place, key string) toml.Key {
	path := below(above, key)
	if _, there := s.places[path.String()]; !there {
		if s.within == 0 {
			at.order = len(s.places) + 1
		}
		s.places[path.String()] = at
	}
	return path
}
