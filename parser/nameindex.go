package parser

import (
	"bytes"
	"iter"
	"unicode/utf8"
)

// nameIndex finds any number of names, of metrics and of columns, in one walk over the words of a text.
type nameIndex struct {
	byWord  map[string][]*column // by the word that the name begins with
	lengths [256]uint64          // of those words, by their first byte: bit i for length i, the last one for more
	noWord  []*column            // names that begin with something that belongs to no word
}

func newNameIndex() nameIndex { return nameIndex{byWord: map[string][]*column{}} }

func (x *nameIndex) add(c *column) {
	size := wordSize(c.name)
	if size == 0 {
		x.noWord = append(x.noWord, c)
		return
	}
	word := c.name[:size]
	x.byWord[string(word)] = append(x.byWord[string(word)], c)
	x.lengths[word[0]] |= lengthBit(size)
}

func lengthBit(size int) uint64 { return 1 << min(size, 63) }

// places gives the places where a name stands as a whole word, in the order of
// the text: what findName gives for each name.
func (x *nameIndex) places(text []byte) iter.Seq2[int, *column] {
	return func(yield func(int, *column) bool) {
		for at := 0; at < len(text); {
			size := wordSize(text[at:])
			if size == 0 {
				for _, c := range x.noWord {
					if isWholeName(text, at, c.name) && !yield(at, c) {
						return
					}
				}
				_, skip := utf8.DecodeRune(text[at:])
				at += skip
				continue
			}
			word := text[at : at+size]
			if !x.at(text, at, word, yield) {
				return
			}
			// The dash of an arrow does not belong to the word.
			if bare, ok := bytes.CutSuffix(word, []byte("-")); ok && len(bare) > 0 && bytes.HasPrefix(text[at+size:], []byte(">")) {
				if !x.at(text, at, bare, yield) {
					return
				}
			}
			at += size
		}
	}
}

// at yields the names that begin with word, which stands at a place in text.
func (x *nameIndex) at(text []byte, place int, word []byte, yield func(int, *column) bool) bool {
	if x.lengths[word[0]]&lengthBit(len(word)) == 0 {
		return true
	}
	for _, c := range x.byWord[string(word)] {
		if isWholeName(text, place, c.name) && !yield(place, c) {
			return false
		}
	}
	return true
}

func isWholeName(text []byte, at int, name []byte) bool {
	return bytes.HasPrefix(text[at:], name) && wordEnds(text, at+len(name))
}

// wordSize measures the word that starts text.
func wordSize(text []byte) int {
	for i := 0; i < len(text); {
		if c := text[i]; isDigit(c) || isLetter(c) || c == '_' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !isNameRune(r) {
			return i
		}
		i += size
	}
	return len(text)
}
