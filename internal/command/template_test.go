package command_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
)

// show writes parts as the tests compare them: placeholders in angle brackets.
func show(parts []command.Part) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case !p.IsPlaceholder():
			b.WriteString(p.Text)
		case p.Flag:
			b.WriteString("<flag " + p.Name + ">")
		case p.Format != "":
			b.WriteString("<" + p.Name + " " + p.Format + ">")
		default:
			b.WriteString("<" + p.Name + ">")
		}
	}
	return b.String()
}

func TestParseTemplate(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"--lr={lr}", "--lr=<lr>"},
		{"{lr}{l2}", "<lr><l2>"},
		{"{lr:.3g} {n:05d}", "<lr .3g> <n 05d>"},
		{"{flag:use_bn}", "<flag use_bn>"},
		{"{flag:.3g}", "<flag .3g>"},
		{"{flag}", "<flag>"},
		{"${lr} $HOME", "${lr} $HOME"},
		{"awk '{ print $3 }'", "awk '{ print $3 }'"},
		{"{{lr}} {{lr:.3g}}", "{lr} {lr:.3g}"},
		{"{{ lr }}", "{{ lr }}"},
		{`{"lr": {lr}}`, `{"lr": <lr>}`},
		{`{"lr":0.1,"a":{"b":1}}`, `{"lr":0.1,"a":{"b":1}}`},
		{"{a,b} {1..3} {}", "{a,b} {1..3} {}"},
		{"{ä}{a b}{9a}", "{ä}{a b}{9a}"},
		{"{user:root}", "<user root>"},
	} {
		t.Run(c.in, func(t *testing.T) {
			if got := show(command.Parse(c.in)); got != c.want {
				t.Errorf("%q: got %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestParseTemplateOffsets(t *testing.T) {
	text := "a {{x}} {lr:.3g} b {n}"
	for _, p := range command.Parse(text) {
		if p.IsPlaceholder() && text[p.Start:p.End] != p.Text {
			t.Errorf("%q lies at %q", p.Text, text[p.Start:p.End])
		}
	}
}

func TestShellContext(t *testing.T) {
	for _, c := range []struct {
		in   string
		want command.Context
	}{
		{"x --lr={p}", command.InWord},
		{"x 'a'{p}\"b\"", command.InWord},
		{"x '{p}'", command.InSingleQuotes},
		{`x "{p}"`, command.InDoubleQuotes},
		{`x "a\"{p}"`, command.InDoubleQuotes},
		{`x \"{p}`, command.InWord},
		{`x \\{p}`, command.InWord},
		{`x \{p}`, command.AfterBackslash},
		{`x 'it\' {p}`, command.InWord},
		{"x `y {p}`", command.InBackquotes},
		{"x $(y {p})", command.InWord},
		{`x "$(y {p})"`, command.InWord},
		{`x "$(y "{p}")"`, command.InDoubleQuotes},
		{`x "$(y) {p}"`, command.InDoubleQuotes},
		{`x "$(y && (z); w) {p}"`, command.InDoubleQuotes},
		{`"$(case a in a) echo "{p}" ;; esac)"`, command.InDoubleQuotes},
		{`"$(case a in a) echo {p} ;; esac)"`, command.InWord},
		{"x ${y:-{p}}", command.InExpansion},
		{`x ${y:-"}"} {p}`, command.InWord},
		{"x $(( {p} * 2 ))", command.InArithmetic},
		{"x $(( (1+2)*3 )) {p}", command.InWord},
		{"x # {p}", command.InComment},
		{"x# {p}", command.InWord},
		{"# 'a\nx {p}", command.InWord},
		{"cat <<EOF\na {p}\nEOF\n", command.InHereDocument},
		{"cat <<'EOF'\na'b\nEOF\nx {p}", command.InWord},
		{"cat <<-EOF >{p}\n\ta\n\tEOF\n", command.InWord},
		{"cat <<A <<B\n'\nA\n{p}\nB\n", command.InHereDocument},
		{"cat <<A <<B\n'\nA\n\"\nB\n{p}", command.InWord},
		{"cat <<<{p}", command.InWord},
		{"x '{{p}}' {p}", command.InWord},
	} {
		t.Run(c.in, func(t *testing.T) {
			parts, err := command.ParseShell(c.in)
			if err != nil {
				t.Errorf("%q: %v", c.in, err)
			}
			n := 0
			for _, p := range parts {
				if p.IsPlaceholder() {
					n++
					if p.Context != c.want {
						t.Errorf("%q: the placeholder stands %q; want %q", c.in, p.Context, c.want)
					}
				}
			}
			if n != 1 {
				t.Errorf("%q: %d placeholders", c.in, n)
			}
		})
	}
}

func TestShellUnclosed(t *testing.T) {
	for in, at := range map[string]int{
		"x 'a": 2, `x "a`: 2, "x $(a": 2, "x `a": 2, "x ${a": 2, `a "b $(c "d`: 9,
	} {
		t.Run(in, func(t *testing.T) {
			_, err := command.ParseShell(in)
			var te *command.SyntaxError
			if !errors.As(err, &te) || te.Start != at {
				t.Errorf("%q: got %v, want an error at byte %d", in, err, at)
			}
		})
	}
}
