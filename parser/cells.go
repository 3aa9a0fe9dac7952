package parser

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// layout says what stands between the cells of a table's line.
type layout uint8

const (
	bars layout = iota
	semicolons
	tabs
	commas
	wide   // two blanks or more
	narrow // one blank or more
)

// cell is a part of a line.
type cell struct {
	at          int // the first byte
	left, right int // columns of the terminal
	text        string
}

// split cuts a line into its cells.
func (y layout) split(text []byte) []cell {
	var ends [][2]int
	if y == wide || y == narrow {
		ends = y.betweenBlanks(text)
	} else {
		ends = y.betweenSigns(text)
	}
	cells := make([]cell, len(ends))
	column, counted := 0, 0
	for i, e := range ends {
		from := skipBlanks(text[:e[1]], e[0])
		whole := trimBlanks(text[from:e[1]])
		if i == 0 && (y == semicolons || y == tabs || y == commas) {
			if prefix := bytes.LastIndex(whole, []byte(": ")); prefix >= 0 { // of a logger
				whole = whole[prefix+2:]
				from += prefix + 2
			}
		}
		column += utf8.RuneCount(text[counted:from])
		counted = from
		c := cell{at: from, left: column, right: column + utf8.RuneCount(whole), text: string(whole)}
		if size := len(whole); size >= 2 && whole[0] == '"' && whole[size-1] == '"' {
			c.text = string(whole[1 : size-1])
			c.at++
		}
		cells[i] = c
	}
	return cells
}

func (y layout) betweenBlanks(text []byte) (ends [][2]int) {
	gap := 1
	if y == wide {
		gap = 2
	}
	for at := skipBlanks(text, 0); at < len(text); {
		end, next := at, at
		for next < len(text) && (next == end || next-end < gap && text[end] != '\t') {
			end = next + 1
			for end < len(text) && !isBlank(text[end]) {
				end++
			}
			next = skipBlanks(text, end)
		}
		ends = append(ends, [2]int{at, end})
		at = next
	}
	return ends
}

func (y layout) betweenSigns(text []byte) (ends [][2]int) {
	start, quoted := 0, false
	for i := 0; i < len(text); {
		if y == commas && text[i] == '"' {
			quoted = !quoted
		}
		size := y.sign(text[i:])
		if size == 0 || quoted {
			i++
			continue
		}
		ends = append(ends, [2]int{start, i})
		i += size
		start = i
	}
	ends = append(ends, [2]int{start, len(text)})
	if last := len(ends) - 1; y == bars && last > 1 { // the outermost bars are the frame
		if skipBlanks(text, 0) == ends[0][1] && skipBlanks(text, ends[last][0]) == len(text) {
			ends = ends[1:last]
		}
	}
	return ends
}

// sign measures the separator that begins text.
func (y layout) sign(text []byte) int {
	switch {
	case y == semicolons && text[0] == ';', y == tabs && text[0] == '\t', y == commas && text[0] == ',', y == bars && text[0] == '|':
		return 1
	case y == bars && (bytes.HasPrefix(text, []byte("│")) || bytes.HasPrefix(text, []byte("┃"))):
		return len("│")
	}
	return 0
}

// isRule tells the lines that are drawn between the rows of a table.
func isRule(text []byte) bool {
	return strings.Trim(string(text), "-=+|:_~. \t─━┄┈│┃┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋┠┨┡┩╇╪╒╕╘╛╞╡╤╧═║╔╗╚╝╠╣╦╩╬╭╮╰╯") == ""
}

// isNumber tells cells that hold one number and nothing else.
func isNumber(text string) bool {
	n := scanNumber([]byte(text), numberMode{})
	return n.size == len(text) && (n.kind == finite || n.kind == nonFinite)
}

// isPair tells cells that hold a name with its number: "loss: 0.3".
func isPair(text string) bool {
	i := strings.LastIndexAny(text, ":=")
	return i >= 0 && isNumeric(strings.TrimSpace(text[i+1:]))
}

// isNumeric tells cells that begin like a number: "12", "00:12", "2.61G", "nan".
func isNumeric(text string) bool {
	return startsNumber([]byte(text)) || isNonFinite([]byte(text))
}

// isMissing tells what stands in a cell that has no value.
func isMissing(text string) bool {
	switch strings.ToLower(text) {
	case "", "-", "--", "—", "none", "null", "na", "n/a", "<na>":
		return true
	}
	return false
}
