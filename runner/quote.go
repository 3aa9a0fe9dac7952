package runner

import "strings"

// Quote returns s as one word of a POSIX shell's command line, whatever its bytes: quotes,
// newlines, dollars and invalid UTF-8 arrive as they are, and a leading digit never becomes
// part of a redirection. A NUL byte cannot be passed to any command; s must have none.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
