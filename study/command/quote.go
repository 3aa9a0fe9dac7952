package command

import (
	"regexp"
	"strconv"
	"strings"
)

// keywordRE matches the reserved words of shells.
var keywordRE = regexp.MustCompile(`^(?:if|then|else|elif|fi|do|done|case|esac|while|until|for|in|select|function|time|coproc)$`)

// patternRE matches the start of a list or a range of alternatives.
var patternRE = regexp.MustCompile(`\[|(?:^|[^$])\{`)

// canStandBare reports whether a plain value t needs no quotes where p stands in
// text, whose placeholders are filled: as a word of its own unless it is a keyword, and in a word after a character that
// ends a variable's name. Elsewhere it could join a variable's name or a tilde,
// or become a file descriptor or a function's name, or a part of a pattern.
func canStandBare(text string, p Part, t string) bool {
	if patternRE.MatchString(text[p.word.start:p.Start]) {
		return false
	}
	if p.Start > p.word.start {
		return strings.IndexByte("=/:,.+-@%", text[p.Start-1]) >= 0 && text[p.word.start] != '~'
	}
	joined := p.End < len(text) && strings.IndexByte("<>(", text[p.End]) >= 0
	alone := p.word.end == p.End && !keywordRE.MatchString(t)
	_, err := strconv.ParseFloat(t, 64)
	return !joined && (alone || err == nil || strings.HasPrefix(t, "/"))
}
