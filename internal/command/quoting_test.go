package command_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/shell"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

// shells are the oracles: what /bin/sh is on one system or another.
func shells(t testing.TB) []string {
	var found []string
	for _, name := range []string{"dash", "bash"} {
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		t.Skip("there is neither dash nor bash")
	}
	return found
}

// value binds {c} to a string.
func value(s string) *command.Bindings {
	return &command.Bindings{
		Params: []spaces.Param{{Name: "c", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String(s), spaces.String("other")}}},
		Values: spaces.Values{{Name: "c", Value: spaces.String(s)}},
	}
}

// attacks are values that make a file named PWNED if a shell reads them as text of
// its own, in a word, in quotes, and on a line by themselves.
var attacks = []string{"$(touch PWNED)", "'$(touch PWNED)'", `"$(touch PWNED)"`, "\ntouch PWNED\n", "`touch PWNED`", "\\'$(touch PWNED)", "$(touch PWNED)'"}

// accepted reports whether every placeholder of the template stands where its value
// is quoted, and there is one.
func accepted(text string) bool {
	parts, err := command.ParseShell(text)
	return err == nil && slices.ContainsFunc(parts, command.Part.IsPlaceholder) &&
		!slices.ContainsFunc(parts, func(p command.Part) bool { return p.IsPlaceholder() && p.Context != command.InWord })
}

// checkNoneExecuted runs the templates with every attack in every shell. One that executes a
// variable in double quotes as well, as $(echo "$V") does, does so by itself.
func checkNoneExecuted(t *testing.T, templates []string) {
	t.Helper()
	var lines, same []string
	for _, text := range templates {
		for _, attack := range attacks {
			r, err := command.Command{Shell: text}.Render(value(attack))
			if err != nil {
				t.Fatalf("%q is accepted, but is not rendered: %v", text, err)
			}
			lines = append(lines, r.Shell)
			same = append(same, "V="+shell.Quote(attack)+"\n"+strings.ReplaceAll(text, "{c}", `"$V"`))
		}
	}
	for _, sh := range shells(t) {
		for from := 0; from < len(lines); from += 120 {
			batch := lines[from:min(from+120, len(lines))]
			if !executed(t, sh, batch) {
				continue
			}
			for i, line := range batch {
				if executed(t, sh, []string{line}) && !executed(t, sh, same[from+i:from+i+1]) {
					t.Errorf("%s executed a part of a value: %q", filepath.Base(sh), line)
				}
			}
		}
	}
}

// executed reports whether one of the lines made the file PWNED.
func executed(t *testing.T, shell string, lines []string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	const each = `for line; do (eval "$line"); done`
	cmd := exec.CommandContext(ctx, shell, append([]string{"-c", each, shell}, lines...)...)
	cmd.Dir, cmd.WaitDelay = t.TempDir(), time.Second
	_ = cmd.Run() // most lines fail, and that is no matter
	if ctx.Err() != nil {
		t.Fatalf("%s did not end: %q", shell, lines)
	}
	_, err := os.Stat(filepath.Join(cmd.Dir, "PWNED"))
	return err == nil
}

// tokens are what templates are made of at random. None of them executes a value by
// itself, as eval would.
var tokens = []string{
	"{c}", "{c}", "{c}", "{c}", " {c}", "echo {c}", "a={c}", "\n{c}", "'", "'", `"`, `"`, `\`, "$", "$$", "$#", "$!", "$'", `$"`, "$(", ")", "(", "`", "${", "${y", "${y:-", "}", "$((",
	"))", "((", "[[ ", " ]]", "[", "]", "#", " #", "$y", "\n", "\n", "\\\n", " ", " ", "\t", ";", "&", "&&", "|", "||", ">o", ">", "2>&1",
	"<<E", "<<-E", "<<'E'", "<<\\E", "<<\"E\"", "\nE\n", "\n\tE\n", "E", "F", "<<<", "<(", "<", "echo ", ": ", "printf %s ", "cat ", "a", "b=", "a[0]=", "=", "~", "*", "?", "@(",
	"{u:$(}", "{u:`}", "{u:\\}", "{c:$(x}", "{", ",", "..", "!", "case a in a) ", " ;; ", "esac", "if :; then ", "; fi", "{ ", "; }", "for a in ", "; do ", "; done", "f() ", "function ", "time ", "1", "-eq ", "+=",
}

func soup(rnd *rand.Rand) string {
	var b strings.Builder
	for range 2 + rnd.IntN(10) {
		b.WriteString(tokens[rnd.IntN(len(tokens))])
	}
	return b.String()
}

// Whatever template is accepted, in no shell is a part of a value executed.
func TestNoTemplateExecutesValues(t *testing.T) {
	wanted := effort.Of(25, 100, 1200)
	rnd := rand.New(rand.NewPCG(1, 2))
	var templates []string
	for len(templates) < wanted {
		if text := soup(rnd); accepted(text) {
			templates = append(templates, text)
		}
	}
	checkNoneExecuted(t, templates)
}

func FuzzNoTemplateExecutesValues(f *testing.F) {
	for i := range byte(20) {
		f.Add([]byte{i, i + 40, 0, i * 3, 0})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var b strings.Builder
		for _, at := range data[:min(len(data), 20)] {
			b.WriteString(tokens[int(at)%len(tokens)])
		}
		if text := b.String(); accepted(text) {
			checkNoneExecuted(t, []string{text})
		}
	})
}

// Some shells read these in another way than they look, or evaluate what is quoted.
func TestTrickyTemplatesAreRefused(t *testing.T) {
	for _, text := range []string{
		`echo "run $$({c})"; echo loss=1`,
		"cat <<E\\\nF\nE\necho {c}\nEF",
		`echo $'a\'{c}'`,
		`echo $'a\'{c}''`,
		"echo $'it' && echo $'a\\'{c}' #'",
		"cat <<$'E'\nE\n{c}\n",
		"((a = {c}))", "echo $(( {c} ))", "a[{c}]=1", "[[ {c} -eq 1 ]]", "[[ -v {c} ]]", "let a={c}",
		"cat <<{c}\nx\n", "x >&{c}", "x 2>&1{c}", "f() { echo `{c}`; }", "echo @({c})", "{c}() { :; }",
		"echo 'a\r\n' {c}", "echo {u:`} {c} `", "echo {u:$(} '{c} )'", "echo $\\\n{c}", "echo $\\\n\\\n{c}",
		`echo $'\'' {c}`, `printf $'it\'s %s' {c}`, "x=$'\\''\necho {c}",
	} {
		t.Run(text, func(t *testing.T) {
			if accepted(text) {
				t.Errorf("%q is accepted", text)
			}
		})
	}
}

// What the parser does not know is accepted as long as nothing is quoted before the
// value.
func TestExoticTemplates(t *testing.T) {
	for text, want := range map[string]bool{
		"x --lr={c} && !(a|b":           true,
		"y=1; x --lr={c}; for ((i=0; ;": true,
		`x "a" {c}; for ((i=0; ;`:       false,
		"x 2>&1{c}; for ((i=0; ;":       false,
		"diff <(a {c}) <(b {c})":        true,
		"cat <<<{c}":                    true,
		"[[ -f {c} ]] && x=({c} b)":     true,
	} {
		t.Run(text, func(t *testing.T) {
			if accepted(text) != want {
				parts, err := command.ParseShell(text)
				t.Errorf("%q: accepted %v; %v, %+v", text, !want, err, parts)
			}
		})
	}
}

// hostile are values that a shell would change if it saw them bare.
var hostile = []string{
	"if", "done", "in", "time", "5", "sgd", "", " ", "a b", "'", `"`, `\`, "$HOME", "$(touch PWNED)", "`id`", "a\nb", "a\n", "\t", "*", "?", "[a-z]*", "~", "~/x",
	"!x", "#x", "-x", "--", "a;b", "a&b|c>d", "é\xff", `'"$(`, "{c}", "{a,b}", "1..3", "a,b", "x=1", "=", "%1", "@", `\n`,
}

// Values are data: whatever they hold, the program gets it byte for byte.
func TestValuesArriveAsTheyAre(t *testing.T) {
	words := []struct{ before, after string }{
		{"", ""}, {"--v=", ""}, {"pre", "post"}, {"a/", "/b"}, {"'q '", `" r"`}, {`"q "`, "'r '"}, {"{x,", "}"}, {"[a-", "]*"}, {"$$-", ""}, {"$y", ""}, {"~", ""}, {"x:", ":~"}, {"-", "="},
	}
	commands := []string{
		"printf '<%%s>' %s", "if :; then printf '<%%s>' %s; fi", "f() { printf '<%%s>' \"$1\"; }; f %s", "for i in %s; do printf '<%%s>' \"$i\"; done",
		"(printf '<%%s>' %s) | cat", "printf '<%%s>' \"$(printf '%%s.' %s)\"", "cat <<E && printf '<%%s>' %s\nit's\nE", "x=$(case a in a) :;; esac); printf '<%%s>' %s # it's",
		"{ printf '<%%s>' \\\n%s; }", "printf '<%%s>' %s >&1", "v=%s; printf '<%%s>' \"$v\"", "case x in y) ;; *) printf '<%%s>' %s;; esac",
	}
	const mark = "MARK"
	for _, shell := range shells(t) {
		for i, w := range words {
			for j, format := range commands {
				if (i+j)%effort.Of(24, 6, 1) != 0 {
					continue
				}
				text := fmt.Sprintf(format, w.before+"{c}"+w.after)
				if !accepted(text) {
					t.Errorf("%q is refused", text)
					continue
				}
				checkData(t, shell, text, mark)
			}
		}
	}
}

// checkData compares what a template prints for hostile values with what it prints
// for a harmless one.
func checkData(t *testing.T, shell, text, mark string) {
	t.Helper()
	args := []string{"-c", `y=; for line; do (eval "$line"); printf '\001'; done`, shell}
	for _, v := range append([]string{mark}, hostile...) {
		r, err := command.Command{Shell: text}.Render(value(v))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, r.Shell)
	}
	cmd := exec.Command(shell, args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	got := strings.Split(string(out), "\001")
	if err != nil || len(got) != len(hostile)+2 {
		t.Fatalf("%s: %q: %v, %q", shell, text, err, out)
	}
	for i, h := range hostile {
		if want := strings.ReplaceAll(got[0], mark, h); got[i+1] != want {
			t.Errorf("%s: %q with %q, as %q: got %q, want %q", filepath.Base(shell), text, h, args[i+4], got[i+1], want)
		}
	}
}
