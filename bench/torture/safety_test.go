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

// A call is a command line of lbotune and the exit code that it must have.
type call struct {
	code int
	args []string
}

// runPrintable makes calls that must print something, and nothing to command a terminal.
func (l *lab) runPrintable(calls []call) {
	for _, c := range calls {
		l.Run(strings.Join(c.args, " "), func(t *testing.T) {
			inner := &lab{T: t, dir: l.dir, env: l.env}
			res := inner.run(c.code, c.args...)
			checkPrintable(t, res)
			if len(res.out)+len(res.err) == 0 {
				t.Error("it printed nothing")
			}
		})
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
	l.runPrintable([]call{
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
	})
}

// Nor do the names of files and directories.
func TestEscapesInNames(t *testing.T) {
	outer := newLab(t)
	l := &lab{T: t, dir: outer.path("dir\x1b[31m\u009b2J\x07"), env: outer.env}
	l.check(os.Mkdir(l.dir, 0o700))
	const name = "q\x1b[2J"
	l.spec(name+".toml", "echo loss={x}", 2, 1)
	l.write(name+".toml", "name = 'named'\n"+l.read(name+".toml"))
	l.spec("bad\x1b[2J.toml", "echo {y}", 1, 1)
	l.write("fails.toml", strings.Replace(l.read(name+".toml"), "echo loss", "exit 3; echo loss", 1))
	l.write("setup.toml", "setup = 'exit 3'\n"+l.read(name+".toml"))
	l.write("moved.toml", strings.Replace(l.read(name+".toml"), "echo loss", "mv moved.study away; echo loss", 1))
	l.write("damaged.study/journal.jsonl", "x")
	l.runPrintable([]call{
		{2, []string{"check", l.path("bad\x1b[2J.toml")}},
		{2, []string{"run", "bad\x1b[2J.toml"}},
		{0, []string{"check", l.path(name + ".toml")}},
		{0, []string{"check", "--smoke", name + ".toml"}},
		{0, []string{"run", "-vv", name + ".toml"}},
		{0, []string{"run", name + ".toml"}},
		{0, []string{"run", "-n", "3", name + ".toml"}},
		{0, []string{"resume", name + ".study"}},
		{0, []string{"status", name + ".toml"}},
		{0, []string{"best", name + ".study"}},
		{0, []string{"show", name + ".study", "1"}},
		{0, []string{"show", "--json", name + ".study", "1"}},
		{0, []string{"log", name + ".study", "1"}},
		{0, []string{"journal", "verify", name + ".study"}},
		{0, []string{"journal", "repair", name + ".study", "new\x1b[2J"}},
		{2, []string{"journal", "repair", name + ".study", "new\x1b[2J"}},
		{0, []string{"init", "-o", "made\x1b[2J.toml", "--", "./x", "--lr", "1"}},
		{2, []string{"run", "--log-file", name + ".study/journal.jsonl", name + ".toml"}},
		{2, []string{"status", "none\x1b[2J"}},
		{2, []string{"enqueue", name + ".study", "y\x1b[2J=1"}},
		{3, []string{"status", "damaged.study"}},
		{5, []string{"run", "fails.toml"}},
		{5, []string{"run", "setup.toml"}},
		{74, []string{"run", "moved.toml"}},
	})
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

// What the spec calls a secret reaches the trials, and nothing that lbotune writes or
// shows, even where a trial gives it away. Values in env whose names say that they are
// secrets are in the spec and the journal, and are not shown.
func TestSecretEnv(t *testing.T) {
	l := newLab(t)
	secret := fmt.Sprintf("s3cret%dtoken/+=", os.Getpid())
	l.env = append(l.env, "MY_TOKEN="+secret)
	l.spec("spec.toml", `test -n "$MY_TOKEN" || exit 4; : {x}; echo "loss=$MY_TOKEN"; echo "the token is $MY_TOKEN" >&2; sh -c 'sleep 1000; :' "$MY_TOKEN" & sleep 0.1; exit 3`, 9, 1,
		"failure_guard = 1", `secret_env = ["MY_TOKEN"]`, `env = { API_KEY = "key-in-spec", PLAIN = "shown" }`)
	l.write("value.toml", strings.Replace(l.read("spec.toml"), "exit 3", "exit 0", 1))
	l.write("setup.toml", "setup = 'echo $MY_TOKEN; exit 3'\n"+l.read("spec.toml"))
	var said []string
	for _, c := range []call{
		{0, []string{"check", "spec.toml"}},
		{5, []string{"check", "--smoke", "spec.toml"}},
		{5, []string{"run", "-vv", "spec.toml"}},
		{5, []string{"run", "value.toml"}},
		{5, []string{"run", "setup.toml"}},
		{0, []string{"status", "spec.study"}},
		{0, []string{"trials", "--json", "spec.study"}},
		{0, []string{"show", "spec.study", "1"}},
		{0, []string{"show", "value.study", "1"}},
		{0, []string{"log", "spec.study", "1"}},
		{0, []string{"log", "--stderr", "spec.study", "1"}},
	} {
		res := l.run(c.code, c.args...)
		said = append(said, res.out+res.err)
		for _, word := range []string{secret, secret[:len(secret)*2/3], secret[len(secret)/3:], "key-in-spec"} {
			t.Run(word, func(t *testing.T) {
				if strings.Contains(res.out+res.err, word) {
					t.Errorf("%q shows %s:\n%s%s", c.args, word, res.out, res.err)
				}
			})
		}
	}
	all := strings.Join(said, "")
	for _, word := range []string{"[MY_TOKEN]", `export API_KEY="${API_KEY:?is a secret}"`, `export MY_TOKEN="${MY_TOKEN:?is a secret}"`, "export PLAIN=shown", "left processes running"} {
		t.Run(word, func(t *testing.T) {
			if !strings.Contains(all, word) {
				t.Errorf("nothing shows %s", word)
			}
		})
	}
	for _, name := range []string{"spec", "value", "setup"} {
		if strings.Contains(l.read(name+".study/journal.jsonl"), secret) {
			t.Errorf("the journal of %s holds it", name)
		}
	}
	// A missing one, and one that cannot be told from other text.
	for _, value := range []string{"", "MY_TOKEN=abc"} {
		l.env = append(l.env[:len(l.env):len(l.env)], value)
		if value == "" {
			l.env = l.env[:len(l.env)-2]
		}
		l.run(2, "run", "spec.toml").mustSay(l, "run.secret_env: ")
		l.run(2, "resume", "spec.study").mustSay(l, "run.secret_env: ")
	}
}

// What lbotune writes is the owner's alone, whatever the umask.
func TestModes(t *testing.T) {
	for _, mask := range []string{"000", "022", "077", "777"} {
		t.Run(mask, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", "cat $LBOTUNE_TRIAL_DIR/params.json >/dev/null && umask && echo loss={x}", 2, 2)
			l.write("spec.toml", `setup = "true"`+"\n"+l.read("spec.toml")+`
[[files]]
text = "x = {x}"
to = "conf/trial.conf"
`)
			l.check(os.Mkdir(l.path("src"), 0o777))
			l.check(os.Chmod(l.path("src"), 0o777))
			l.write("spec.toml", strings.Replace(l.read("spec.toml"), "[run]", "[run]\nsources = { from = 'src' }", 1))
			r := l.program("/bin/sh", "-c", `umask `+mask+`; "$0" run spec.toml && "$0" run -n 3 --log-file log spec.toml`, os.Getenv(programVar))
			r.launch()
			r.end().must(l, 0)
			for _, top := range []string{"spec.study", "log"} {
				if mask == "777" && top == "log" {
					continue // which is a file of the user's, as the umask makes it
				}
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

// Nobody else decides what is run: a study, or a part of it, that belongs to another
// user is refused, and one that others may write is warned about.
func TestStudyOfAnother(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	const other = 54321
	l := newLab(t)
	l.spec("spec.toml", "echo loss={x}", 1, 1)
	l.run(0, "run", "spec.toml")
	l.check(os.Mkdir(l.path("elsewhere"), 0o700))
	l.check(os.Mkdir(l.path("linked.study"), 0o700))
	l.check(os.Symlink("../elsewhere", l.path("linked.study/trials")))
	l.run(0, "run", "--study", "linked.study", "spec.toml") // somebody has a larger disk
	for _, path := range []string{"spec.study", "spec.study/journal.jsonl", "spec.study/trials", "linked.study/trials", "elsewhere"} {
		t.Run(path, func(t *testing.T) {
			l := &lab{T: t, dir: l.dir, env: l.env}
			study := strings.Split(strings.Replace(path, "elsewhere", "linked.study", 1), "/")[0]
			l.check(os.Lchown(l.path(path), other, -1))
			before := l.read(study + "/journal.jsonl")
			for _, args := range [][]string{{"run", "--study", study, "-n", "2", "spec.toml"}, {"resume", "-n", "2", study}} {
				l.run(2, args...).mustSay(l, " belongs to user 54321, who could change what is run")
			}
			l.run(0, "status", study)
			if l.read(study+"/journal.jsonl") != before {
				t.Error("it was changed")
			}
			l.check(os.Lchown(l.path(path), 0, -1))
		})
	}
	l.check(os.Chmod(l.path("spec.study"), 0o770))
	l.run(0, "run", "-n", "2", "spec.toml").mustSay(l, "others can write to the study", "drwxrwx---")
	l.check(os.Chmod(l.path("spec.study"), 0o755))
	if res := l.run(0, "run", "-n", "3", "spec.toml"); strings.Contains(res.err, "others") {
		t.Errorf("it may be read:\n%s", res.err)
	}
	if left, err := filepath.Glob(l.path("spec.study/.owner-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
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
	for name, command := range map[string]string{
		"shell":       tomlString(as("args", "{s} x{s}y {x}")),
		"arguments":   fmt.Sprintf(`[%q, "args", "{s}", "x{s}y", "{x}"]`, trialProgram()),
		"bash inside": tomlString("bash -c 'exec \"$@\"' bash " + as("args", "{s} x{s}y {x}")),
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
				s, _ := trial.Values().Get("s")
				x, _ := trial.Values().Get("x")
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
