package spec

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// place is a key's position in the file.
type place struct{ line, col, length int }

// scanner walks over the words of a TOML file that is known to be right, and notes where each
// key and each element of an array stands. In paths, numbers of elements stand in brackets.
type scanner struct {
	doc    *document
	src    string
	words  [][]int         // that are left: from and to; the last is empty
	line   int             // of the next word, from 1
	begins int             // the first byte of that line
	within int             // so many arrays
	listed map[string]bool // in doc.keys
}

// wordRE matches texts, also one whose end is cut off, comments, signs, and what else has no
// blanks and dots.
var wordRE = regexp.MustCompile(`"""(?s:\\.|[^\\])*?"""+|'''(?s:.*?)'''+|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|` +
	`#.*|[\[\]{}=,\n]|[^\s.\[\]{}=,"'#]+`)

func (d *document) scan(src string) {
	s := &scanner{doc: d, src: src, words: wordRE.FindAllStringIndex(src, -1), line: 1, listed: map[string]bool{}}
	s.words = slices.DeleteFunc(s.words, func(w []int) bool { return src[w[0]] == '#' })
	s.words = append(s.words, []int{len(src), len(src)})
	var table toml.Key
	elements := map[string]int{}
	for s.word() != "" {
		switch {
		case s.skip("\n"):
		case s.skip("["):
			isArray := s.skip("[")
			at := s.here()
			table = s.key(nil, "]")
			if isArray {
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

func isNumber(key string) bool { return strings.HasPrefix(key, "[") }

// word is the next word.
func (s *scanner) word() string { return s.src[s.words[0][0]:s.words[0][1]] }

// here is its place.
func (s *scanner) here() place { return place{s.line, s.words[0][0] - s.begins + 1, len(s.word())} }

// next steps over a word.
func (s *scanner) next() string {
	word := s.word()
	if last := strings.LastIndexByte(word, '\n'); last >= 0 {
		s.line += strings.Count(word, "\n")
		s.begins = s.words[0][0] + last + 1
	}
	if word != "" {
		s.words = s.words[1:]
	}
	return word
}

// skip steps over the next word if it is this one.
func (s *scanner) skip(word string) bool { return s.word() == word && s.next() != "" }

// ahead reports whether the next word is one of some, or there is none.
func (s *scanner) ahead(words ...string) bool {
	return s.word() == "" || slices.Contains(words, s.word())
}

// key reads a key of a table, which dots divide, and the word that ends it.
func (s *scanner) key(table toml.Key, end string) toml.Key {
	path := table
	for !s.ahead(end) {
		at, key := s.here(), s.next()
		if quote := key[:1]; quote == `"` || quote == "'" {
			key = strings.Trim(key, quote)
			at.col, at.length = at.col+1, len(key)
			if plain, err := strconv.Unquote(`"` + key + `"`); err == nil && quote == `"` {
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
				s.value(s.note(path, s.here(), number(i)))
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
	d, path := s.doc, below(above, key)
	if _, there := d.places[path.String()]; !there && at.line > 0 {
		d.places[path.String()] = at
	}
	plain := slices.DeleteFunc(slices.Clone(path), isNumber)
	if name := plain.String(); s.within == 0 && !isNumber(key) && !s.listed[name] {
		s.listed[name] = true
		table := plain[:len(plain)-1].String()
		d.keys[table] = append(d.keys[table], key)
	}
	return path
}
