//go:build linux

package torture_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// checkPrintable checks that nothing that lbotune printed can command a terminal.
func checkPrintable(t *testing.T, res result) {
	t.Helper()
	for name, text := range map[string]string{"stdout": res.out, "stderr": res.err} {
		for _, r := range text {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("%s holds %q", name, r)
				break
			}
		}
	}
}

// What trials print, and what a spec holds, never reaches the terminal as a command to it.
func TestTerminalEscapes(t *testing.T) {
	l := newLab(t)
	attack := `\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e`
	print := `printf '\033]0;owned\007\033[2J\r\302\2331;31m\342\200\256\033Pq' | tee /dev/stderr`
	l.spec("spec.toml", print+"; echo; echo loss={x}; : {s}", 3, 1)
	l.write("spec.toml", `setup = "printf '\\033[2J'"
`+l.read("spec.toml")+`
[params.s]
type = "choice"
choices = ["`+attack+`1", "`+attack+`2"]
`)
	l.write("fails.toml", strings.Replace(l.read("spec.toml"), "; echo; echo loss=", "; exit 3; echo loss=", 1))
	l.write("setup.toml", strings.Replace(l.read("spec.toml"), `[2J'"`, `[2J'; exit 3"`, 1))
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, []string{"check", "spec.toml"}},
		{0, []string{"check", "--smoke", "spec.toml"}},
		{0, []string{"run", "-vv", "spec.toml"}},
		{0, []string{"status", "spec.study"}},
		{0, []string{"best", "spec.study"}},
		{0, []string{"trials", "spec.study"}},
		{0, []string{"trials", "--json", "spec.study"}},
		{0, []string{"show", "spec.study", "1"}},
		{0, []string{"log", "spec.study", "1"}},
		{0, []string{"log", "--stderr", "spec.study", "1"}},
		{0, []string{"journal", "verify", "spec.study"}},
		{0, []string{"journal", "replay", "spec.study"}},
		{5, []string{"run", "-n", "9", "fails.toml"}},
		{5, []string{"run", "setup.toml"}},
		{2, []string{"run", "\x1b[2J"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			inner := &lab{T: t, dir: l.dir, env: l.env}
			res := inner.run(c.code, c.args...)
			checkPrintable(t, res)
			if len(res.out)+len(res.err) == 0 {
				t.Error("it printed nothing")
			}
		})
	}
}

// Secrets in the environment are for the trials alone.
func TestSecretsStayInTheEnvironment(t *testing.T) {
	l := newLab(t)
	secret := fmt.Sprintf("hunter%d", os.Getpid())
	l.env = append(l.env, "API_TOKEN="+secret)
	l.spec("spec.toml", `test -n "$API_TOKEN" && (sleep 1000 & ) && test {x} != 2 && echo loss={x} || exit 3`, 4, 2, "retries = 1")
	res := l.run(0, "run", "--log-file", "log", "--log-level", "trace", "spec.toml")
	said := res.out + res.err
	for _, args := range [][]string{{"status", "spec.study"}, {"show", "spec.study", "1"}, {"trials", "--json", "spec.study"}, {"check", "spec.toml"}} {
		res := l.run(0, args...)
		said += res.out + res.err
	}
	if strings.Contains(said, secret) {
		t.Error("it was printed")
	}
	files := 0
	l.check(filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("%s holds it", path)
		}
		return err
	}))
	if files < 10 {
		t.Errorf("looked into %d files only", files)
	}
}

// What lbotune writes is the owner's alone, whatever the umask.
func TestModes(t *testing.T) {
	for _, mask := range []string{"000", "022", "077"} {
		t.Run(mask, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", "cat $LBOTUNE_TRIAL_DIR/params.json >/dev/null && umask && echo loss={x}", 2, 2)
			l.write("spec.toml", `setup = "true"`+"\n"+l.read("spec.toml")+`
[[files]]
text = "x = {x}"
to = "conf/trial.conf"
`)
			r := l.program("/bin/sh", "-c", `umask `+mask+`; "$0" run spec.toml && "$0" run -n 3 --log-file log spec.toml`, os.Getenv(programVar))
			r.launch()
			r.end().must(l, 0)
			for _, top := range []string{"spec.study", "log"} {
				l.check(filepath.WalkDir(l.path(top), func(path string, d fs.DirEntry, err error) error {
					if err != nil {
						return err
					}
					info, err := d.Info()
					if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err == nil && info.Mode().Perm() != want {
						t.Errorf("%s has mode %o; want %o", path, info.Mode().Perm(), want)
					}
					return err
				}))
			}
			// The trial's own umask is not lbotune's business.
			if got := l.read("spec.study/trials/000001/a1/stdout"); !strings.HasPrefix(got, "0"+mask+"\n") {
				t.Errorf("the trial's umask was %q", got)
			}
		})
	}
}

// writeArgs prints its arguments and the parameters in its environment, quoted.
func writeArgs(args []string) error {
	fmt.Printf("%s\nloss=1\n", strconv.QuoteToASCII(strings.Join(args, "\x00")+"\x00"+os.Getenv("LBOTUNE_PARAM_S")))
	return nil
}

// hostile are values that a careless program takes for something else than data.
var hostile = []string{
	"", " ", "a b  c\t", "line\nbreak\n", "\r", "'", `"`, `'"'"'`, `\`, `\n\t\0`,
	"$HOME ${HOME} $(touch injected) `touch injected`", "; touch injected #",
	"&& touch injected || touch injected | cat & > injected < /dev/null",
	"* ? [a-z] ~ {1,2} !!", "-n", "--help", "{x} {{x}} {trial}", "\x1b[2J\a\x7f\x01", "\u00e9\u4e2d\U0001f600\u202e",
}

// Values are data, in a shell's command, as arguments and in the environment.
func TestHostileValues(t *testing.T) {
	slow(t)
	var choices []string
	for _, v := range hostile {
		choices = append(choices, tomlString(v))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{
		"shell":       tomlString(as("args", "{s} x{s}y {x}")),
		"arguments":   fmt.Sprintf(`["env", "%s=args", %q, "{s}", "x{s}y", "{x}"]`, roleVar, self),
		"bash inside": tomlString("bash -c 'exec \"$@\"' bash env " + as("args", "{s} x{s}y {x}")),
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", "COMMAND", 8*len(hostile), 2)
			l.write("spec.toml", strings.Replace(l.read("spec.toml"), `"COMMAND"`, command, 1)+`
[params.s]
type = "choice"
choices = [`+strings.Join(choices, ", ")+`]
`)
			l.run(0, "run", "spec.toml")
			seen := map[string]bool{}
			for _, trial := range l.load().Trials {
				s, _ := trial.Values.Get("s")
				x, _ := trial.Values.Get("x")
				out, _, _ := strings.Cut(l.read(fmt.Sprintf("spec.study/trials/%06d/a1/stdout", trial.Number)), "\n")
				want := strings.Join([]string{s.Text(), "x" + s.Text() + "y", x.Text(), s.Text()}, "\x00")
				if got, err := strconv.Unquote(out); err != nil || got != want {
					t.Errorf("%q arrived as %s", want, out)
				}
				seen[s.Text()] = true
			}
			if len(seen) < len(hostile) {
				t.Errorf("only %d of %d values came up", len(seen), len(hostile))
			}
			if l.exists("injected") {
				t.Error("a value was executed")
			}
		})
	}
}

// tomlString is s as a basic string of TOML.
func tomlString(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
