// Package shell writes text as words of a POSIX shell's command line.
package shell

import (
	"strings"

	"github.com/lbotune/lbotune/internal/pattern"
)

var nameRE = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsName reports whether a shell takes s for the name of a variable.
func IsName(s string) bool { return nameRE().MatchString(s) }

// Quote returns s as one quoted word, whatever its bytes: newlines, dollars and invalid UTF-8 arrive as
// they are, and a leading digit never becomes part of a redirection. It must have no NUL byte.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plainWordRE matches words that mean themselves to every shell.
var plainWordRE = pattern.Lazy(`^(?:[A-Za-z0-9_./@%+,:-]+|-[A-Za-z0-9_./@%+,:=-]+)$`)

// Word returns w as one word, quoted unless it means itself.
func Word(w string) string {
	if plainWordRE().MatchString(w) {
		return w
	}
	return Quote(w)
}
