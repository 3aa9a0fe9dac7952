package command_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

// No command takes more of the stack than there is, however deep it stands within itself.
func TestDeepCommands(t *testing.T) {
	for i, piece := range []string{"$(", "(", "{ ", "((", "$((", "a[", "${x:-", "`", "if ", "[[ (", "\"$(", "{x} | ( "} {
		if i%effort.Sequential(3, 1, 1) != 0 {
			continue
		}
		t.Run(piece, func(t *testing.T) {
			if _, err := command.ParseShell(strings.Repeat(piece, 1_000_000)); !errors.As(err, new(*command.SyntaxError)) || !strings.Contains(err.Error(), "no system runs one of more than 131072") {
				t.Errorf("%q: %v", piece, err)
			}
			deep := "run {x} "
			deep += strings.Repeat(piece, (128<<10-len(deep))/len(piece))
			if parts, _ := command.ParseShell(deep); parts[1].Name != "x" || parts[1].Context != command.InWord {
				t.Errorf("%q: {x} before it is %+v", piece, parts[1])
			}
		})
	}
}

// Whatever stands in a spec's command, its files and what is set in them is read or refused.
func FuzzTemplates(f *testing.F) {
	for _, text := range []string{"a {x} '{y}' $(b)", "{flag:b=--on|--off}", "{{x}} {x:.3g}", "model.lr", "a..b", "paths.0", "x[1]"} {
		f.Add(text)
	}
	b := &command.Bindings{Params: []spaces.Param{spaces.NewFloat("x", 0, 1), spaces.NewBool("b")},
		Values: spaces.Values{{Name: "x", Value: spaces.Float(0.5)}, {Name: "b", Value: spaces.Bool(true)}}}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, p := range command.Parse(text) {
			if p.Start != end || p.End < p.Start {
				t.Fatalf("a part of %q is %+v", text, p)
			}
			end = p.End
		}
		if end != len(text) {
			t.Fatalf("parts of %q end at %d", text, end)
		}
		_, _ = command.Command{Shell: text}.Render(b)
		_, _ = command.Command{Argv: []string{text}}.Render(b)
		_, _ = command.File{Text: text, To: "a.txt"}.Render(b)
		for name, base := range bases {
			_ = command.File{Text: base, To: name}.CheckSet(command.Setting{Path: text, Value: spaces.String(text)})
			_ = command.File{Text: text, To: name}.CheckSet(command.Setting{Path: "a.b", Value: spaces.Float(1)})
		}
	})
}
