package command_test

import (
	"testing"

	"github.com/lbotune/lbotune/internal/command"
)

// Comments alone make no other command, and what only looks like one does.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a {x}", "a {x}", true},
		{"a {x}", "a {x} # now with x", true},
		{"a {x} # one", "a {x}   # another", true},
		{"# first\na {x}", "a {x}", true},
		{"# first\n\n# second\na {x}", "a {x}", true},
		{"a {x}\n# last\n", "a {x}", true},
		{"a {x}\n  # between\nb", "a {x}\nb", true},
		{"a {x} && # why\nb", "a {x} &&\nb", true},
		{"x=$(a # inside\n) {x}", "x=$(a\n) {x}", true},
		{"a {x} 'q#q'", "a {x} 'q#q' # c", true},

		{"a {x}", "a {x}#c", false},
		{"a {x}", "a {x} '#' c", false},
		{"a {x}", `a {x} \# c`, false},
		{"a {x}", "a {x} $# c", false},
		{"a {x}", "a {x}; true # c", false},
		{"a {x} # c\nb", "a {x} # c b", false},
		{`a {x} \ `, `a {x} \  # c`, false},
		{"a \\\n# c\nb {x}", "a \\\nb {x}", false},
		{"a {x}; echo $LINENO", "# c\na {x}; echo $LINENO", false},
		{"cat <<E\n# c\nE\na {x}", "cat <<E\nE\na {x}", false},
		{"a '\n# c\n' {x}", "a '\n' {x}", false},
		{"a {x} `b # c`", "a {x} `b`", false},
		{"a {x}  b", "a {x} b", false},
		{"a {x} \\\n", "a {x} \\", false},
		{"a {x} 'unclosed # c", "a {x} 'unclosed", false},
	} {
		t.Run(c.a, func(t *testing.T) {
			if got := (command.Command{Shell: c.a}).Alike(command.Command{Shell: c.b}); got != c.want {
				t.Errorf("%q and %q: got %v", c.a, c.b, got)
			}
			if got := (command.Command{Shell: c.b}).Alike(command.Command{Shell: c.a}); got != c.want {
				t.Errorf("%q and %q: got %v", c.b, c.a, got)
			}
		})
	}
	argv := command.Command{Argv: []string{"a", "{x}"}}
	if !argv.Alike(argv) || argv.Alike(command.Command{Shell: "a {x}"}) || argv.Alike(command.Command{Argv: []string{"a", "{x}", "# c"}}) {
		t.Error("arguments have no comments")
	}
}
