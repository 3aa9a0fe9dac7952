package command_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/spaces"
)

func bindings(t *testing.T) *command.Bindings {
	t.Helper()
	params := []spaces.Param{
		spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 1e-6, Max: 1},
		spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 100},
		spaces.Param{Name: "use_bn", Kind: spaces.KindBool},
		spaces.Param{Name: "opt", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("sgd"), spaces.String("adam w")}},
		spaces.Param{Name: "momentum", Kind: spaces.KindFloat, Min: 0, Max: 1, When: "opt == 'sgd'"},
		spaces.Param{Name: "nesterov", Kind: spaces.KindBool, When: "opt == 'sgd'", Inactive: spaces.Bool(false)},
	}
	return &command.Bindings{Study: "/s", Seed: 7, Trial: 17, Attempt: 2, Slot: 1, TrialDir: "/s/trials/000017/a2",
		ParamsFile: "/s/trials/000017/a2/params.json", Params: params,
		Values: spaces.Values{{Name: "lr", Value: spaces.Float(0.0123456)}, {Name: "n", Value: spaces.Int(5)},
			{Name: "use_bn", Value: spaces.Bool(true)}, {Name: "opt", Value: spaces.String("adam w")}}}
}

func TestRenderShell(t *testing.T) {
	b := bindings(t)
	for _, c := range []struct{ in, want string }{
		{"x --lr={lr} --n {n}", "x --lr=0.0123456 --n 5"},
		{"x {n} {n}>out", "x 5 '5'>out"},
		{"x --opt={opt}", "x --opt='adam w'"},
		{"x ~{n} $y{n} ~/{n} ${y}-{n} a/{n}.txt", "x ~'5' $y'5' ~/'5' ${y}-5 a/5.txt"},
		{"x {1..{n}} {a,{n}} [a-{n}] {n}-{n} --a={lr}", "x {1..'5'} {a,'5'} [a-'5'] 5-5 --a=0.0123456"},
		{"x > out/{momentum} y", "x y"},
		{"M={momentum} x", " x"},
		{"x {lr:.2g} --n={n:03d} --n={n:.1f}", "x 0.012 --n=005 --n=5.0"},
		{"x {flag:use_bn} {use_bn}", "x --use-bn true"},
		{"x {flag:nesterov} y", "x y"},
		{"A=-O2{flag:nesterov} x --o={flag:nesterov} --o=a,{flag:nesterov}b > y{flag:nesterov}", "A=-O2'' x --o=a,''b > y''"},
		{"{flag:use_bn}{flag:nesterov} > {flag:nesterov} $y{flag:nesterov}z", "'--use-bn''' $y''z"},
		{"x {flag:nesterov}{flag:nesterov} --o={flag:nesterov}{flag:nesterov} z", "x z"},
		{"x --nesterov={nesterov}", "x --nesterov=false"},
		{"x --m={momentum} y", "x y"},
		{"x --m {momentum} y", "x y"},
		{"x --m=\"a b\"{momentum} y", "x y"},
		{"x -0.5 {momentum} -- {momentum} y", "x -0.5 -- y"},
		{"x --keep --m={momentum}", "x --keep"},
		{"x 2 {flag:nesterov}>y", "x 2 >y"},
		{"x keep {momentum}; y", "x keep ; y"},
		{"x \\\n  --m \\\n  {momentum} \\\n  z", "x \\\n  z"},
		{"x \\\n  {flag:nesterov} \\\n  z", "x \\\n  z"},
		{"x \\\n  a {flag:nesterov} \\\n  z", "x \\\n  a \\\n  z"},
		{"x \\\n  {flag:nesterov}", "x \\\n"},
		{"{trial} {attempt} {slot} {seed} {study} {trial_dir}", "17 2 1 7 /s /s/trials/000017/a2"},
		{"x {params_json}", `x '{"lr":0.0123456,"n":5,"use_bn":true,"opt":"adam w","nesterov":false}'`},
		{"awk '{ print $3 }' '{{lr}}' ${lr} {other}", "awk '{ print $3 }' '{lr}' ${lr} {other}"},
	} {
		t.Run(c.in, func(t *testing.T) {
			got, err := command.Command{Shell: c.in}.Render(b)
			if err != nil || got.Shell != c.want {
				t.Errorf("%q:\n got %q, %v\nwant %q", c.in, got.Shell, err, c.want)
			}
		})
	}
	for in, want := range map[string]string{
		"x '{lr}'": "at byte 3: {lr} stands inside single quotes",
		`x "{lr}"`: "at byte 3: {lr} stands inside double quotes",
		"x # {lr}": "at byte 4: {lr} stands inside a comment",
		"x '":      "at byte 2: this ' is never closed",
	} {
		t.Run(in, func(t *testing.T) {
			if _, err := (command.Command{Shell: in}).Render(b); err == nil || err.Error() != want {
				t.Errorf("got %v; want %s", err, want)
			}
		})
	}
}

// Flags and choices give the command the words that the spec has for them.
func TestRenderWords(t *testing.T) {
	params := []spaces.Param{
		{Name: "b", Kind: spaces.KindBool},
		{Name: "opt", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("plain"), spaces.String("fast"), spaces.String("none")},
			Words: map[string][]string{"fast": {"-O3", "-DX=a b"}, "none": {}}},
		{Name: "lr", Kind: spaces.KindFloat, Min: 1e-6, Max: 1},
		{Name: "f", Kind: spaces.KindBool}, {Name: "json", Kind: spaces.KindBool},
	}
	for _, c := range []struct {
		text, opt string
		b         bool
		want      string
		argv      []string
	}{
		{"x {opt} y", "plain", true, "x plain y", []string{"x", "plain", "y"}},
		{"x {opt} y", "fast", true, "x -O3 '-DX=a b' y", []string{"x", "-O3", "-DX=a b", "y"}},
		{"x -c {opt} y", "none", true, "x -c y", []string{"x", "-c", "y"}},
		{"x CFLAGS={opt} y", "fast", true, "x CFLAGS='-O3 -DX=a b' y", []string{"x", "CFLAGS=-O3 -DX=a b", "y"}},
		{"x CFLAGS={opt} y", "none", true, "x CFLAGS='' y", []string{"x", "CFLAGS=", "y"}},
		{"x {flag:b=-flto|-fno-lto} y", "plain", true, "x -flto y", []string{"x", "-flto", "y"}},
		{"x {flag:b=-flto|-fno-lto} y", "plain", false, "x -fno-lto y", []string{"x", "-fno-lto", "y"}},
		{"x -a {flag:b=--b=True} y", "plain", false, "x -a y", []string{"x", "-a", "y"}},
		{"x -a {flag:b=|--no_b} y", "plain", true, "x -a y", []string{"x", "-a", "y"}},
		{"x {flag:b=--b=1|--b=}", "plain", false, "x --b=", []string{"x", "--b="}},
		{"x {flag:f} {flag:json}", "plain", false, "x --f --json", []string{"x", "--f", "--json"}},
		{"x {lr:yaml} {opt:json} {b:toml}", "fast", true, `x 1.0e-05 '"fast"' true`, []string{"x", "1.0e-05", `"fast"`, "true"}},
	} {
		t.Run(c.text, func(t *testing.T) {
			b := &command.Bindings{Params: params, Values: spaces.Values{
				{Name: "b", Value: spaces.Bool(c.b)}, {Name: "opt", Value: spaces.String(c.opt)}, {Name: "lr", Value: spaces.Float(1e-5)},
				{Name: "f", Value: spaces.Bool(true)}, {Name: "json", Value: spaces.Bool(true)}}} // which are formats, too
			got, err := command.Command{Shell: c.text}.Render(b)
			if err != nil || got.Shell != c.want {
				t.Errorf("%q with %s, %v: got %q, %v; want %q", c.text, c.opt, c.b, got.Shell, err, c.want)
			}
			got, err = command.Command{Argv: strings.Fields(c.text)}.Render(b)
			if err != nil || !slices.Equal(got.Argv, c.argv) {
				t.Errorf("%q with %s, %v: got %q, %v; want %q", c.text, c.opt, c.b, got.Argv, err, c.argv)
			}
		})
	}
}

// Numbers in files are numbers to every reader.
func TestRenderFile(t *testing.T) {
	b := &command.Bindings{TrialDir: "/t/it's", Trial: 3,
		Params: []spaces.Param{{Name: "lr", Kind: spaces.KindFloat, Min: 1e-6, Max: 1}, {Name: "c", Kind: spaces.KindChoice}},
		Values: spaces.Values{{Name: "lr", Value: spaces.Float(1e-5)}, {Name: "c", Value: spaces.String("1e-5")}}}
	text := "lr: {lr}\nrates: [{lr},{lr:.3g}]\nout: run-{lr}.txt\nc: {c}\nc: {c:yaml}\ndir: {trial_dir:json}\nn: {trial:toml}\nlr: {lr:G}\nlr: {lr:.0E}\nlr: {lr:E}\n"
	want := "lr: 1.0e-05\nrates: [1.0e-05,1.0e-05]\nout: run-1e-05.txt\nc: 1e-5\nc: \"1e-5\"\ndir: \"/t/it's\"\nn: 3\nlr: 1.0E-05\nlr: 1.0E-05\nlr: 1.000000E-05\n"
	if got, err := (command.File{Text: text}).Render(b); err != nil || got != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}

// A flag that gives nothing takes away what has no meaning without it, and nothing else.
func TestIdleFlags(t *testing.T) {
	b := bindings(t)
	got, err := command.Command{Argv: []string{"x", "CFLAGS=-O2{flag:nesterov}", "--o={flag:nesterov}", "{flag:nesterov}{flag:use_bn}", "{flag:nesterov}{flag:nesterov}"}}.Render(b)
	if want := []string{"x", "CFLAGS=-O2", "--use-bn"}; err != nil || !slices.Equal(got.Argv, want) {
		t.Errorf("got %q, %v\nwant %q", got.Argv, err, want)
	}
	text := "opts = -v {flag:nesterov} {flag:use_bn}\nmore: {flag:nesterov}\n- {flag:nesterov}\n{flag:nesterov}\nk={flag:nesterov} \nm = {momentum} x\n"
	if got, err := (command.File{Text: text}).Render(b); err != nil || got != "opts = -v  --use-bn\n" {
		t.Errorf("got %v\n%q", err, got)
	}
	if got, absent := b.Expand("{flag:nesterov} x"); absent || got != " x" {
		t.Errorf("got %q, %v", got, absent)
	}
	if _, absent := b.Expand("{flag:nesterov}"); !absent {
		t.Error("a variable that is a flag has a value")
	}
}

func TestRenderArgv(t *testing.T) {
	b := bindings(t)
	got, err := command.Command{Argv: []string{"x", "--lr={lr}", "'{opt}'", "--m={momentum}", "--m", "{momentum}", "{flag:use_bn}", "{flag:nesterov}", "z"}}.Render(b)
	want := []string{"x", "--lr=0.0123456", "'adam w'", "--use-bn", "z"}
	if err != nil || !slices.Equal(got.Argv, want) {
		t.Errorf("got %q, %v\nwant %q", got.Argv, err, want)
	}
	flagged, err := command.Command{Argv: []string{"x", "{flag:use_bn}", "{momentum}", "z"}}.Render(b) // what a value looks like is no option of the template's
	if want := []string{"x", "--use-bn", "z"}; err != nil || !slices.Equal(flagged.Argv, want) {
		t.Errorf("got %q, %v\nwant %q", flagged.Argv, err, want)
	}
	if s := got.String(); s != `x --lr=0.0123456 ''\''adam w'\''' --use-bn z` {
		t.Errorf("as a line: %s", s)
	}
}

// Values are data: whatever they hold, the program gets it byte for byte.
func TestHostileValues(t *testing.T) {
	hostile := []string{
		"if", "done", "in", "time", "5", "sgd",
		"", " ", "a b", "'", `"`, `\`, "$HOME", "$(id)", "`id`", "a\nb", "\t", "*", "~", "!x", "#x", "-x", "a;b", "a&b|c>d", "é\xff", `'"$(`, "{lr}",
	}
	for _, shell := range []string{"/bin/sh", "/bin/bash"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("skipped %s: %v", shell, err)
			continue
		}
		for _, text := range []string{"printf %s {v}", "printf %s --v={v}", "printf %s pre{v}post", "printf %s \"$(printf %s. {v})\""} {
			t.Run(text, func(t *testing.T) {
				for _, h := range hostile {
					b := bindings(t)
					b.Params = []spaces.Param{{Name: "v", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String(h), spaces.String("other")}}}
					b.Values = spaces.Values{{Name: "v", Value: spaces.String(h)}}
					c, err := command.Command{Shell: text}.Render(b)
					if err != nil {
						t.Fatal(err)
					}
					want := map[string]string{"printf %s {v}": h, "printf %s --v={v}": "--v=" + h, "printf %s pre{v}post": "pre" + h + "post"}[text]
					if strings.Contains(text, "$(") {
						want = h + "."
					}
					out, err := exec.Command(shell, "-c", c.Shell).Output()
					if err != nil || string(out) != want {
						t.Errorf("%s: %q with %q as %s: got %q, %v", shell, text, h, c.Shell, out, err)
					}
				}
			})
		}
	}
}

// What stands before ".." may be a link: a path leads where the system finds it.
func TestInsideBehindLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(dir, "far/deep"), 0o700), os.Symlink("far/deep", filepath.Join(dir, "near")))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"", "near/../x", "far/x"}, {"", dir + "/near/../x", "far/x"}, {"near", "../x", "far/x"}, {"", "far/../x", "x"}, {"near", "x", "near/x"},
	} {
		if got, want := command.Inside(filepath.Join(dir, c[0]), c[1]), filepath.Join(dir, c[2]); got != want {
			t.Errorf("%s in %s is %s; want %s", c[1], c[0], got, want)
		}
	}
}
