package command_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/spaces"
)

var bases = map[string]string{
	"base.json": `{"zoo": [1e400, {"a": null}], "model": {"lr": 0.1, "opt": "adam", "deep": {"x.y": 1, "n": 12345678901234567890}, "flag": false},
 "paths": ["/a", "/b"], "gone": 1, "aa": "\u00e9"}`,
	"base.yaml": `# of the model
zoo: [1.0e+400, {a: null}]
model: &m   # here
  lr: 0.1   # rate
  opt: adam
  deep: {n: 12345678901234567890}
  flag: no
paths:
- /a
- /b
gone: 1
text: |
  kept: ${model.lr}
same: *m
answer: "no"
legacy: {on: yes, octal: 010, exponent: 1e5}
clock: 12:30:00
`,
	"base.toml": `gone = 1
paths = ["/a", "/b"]
[model]
lr = 0.1 # rate
opt = "adam"
flag = false
[model.deep]
n = 1234567890123456789
when = 1979-05-27
daily = 07:32:00
once = 1979-05-27T07:32:00
there = 1979-05-27T00:32:00-07:00
[[zoo]]
a = 1
`,
}

func setBindings() *command.Bindings {
	float := spaces.Param{Name: "lr", Kind: spaces.KindFloat, Min: 1e-9, Max: 1}
	return &command.Bindings{Seed: 7, TrialDir: `/t/"it's"`,
		Params: []spaces.Param{float, {Name: "opt", Kind: spaces.KindChoice}, {Name: "b", Kind: spaces.KindBool}, {Name: "off", Kind: spaces.KindInt}},
		Values: spaces.Values{{Name: "lr", Value: spaces.Float(1e-5)}, {Name: "opt", Value: spaces.String("no")}, {Name: "b", Value: spaces.Bool(true)}},
	}
}

func settings() []command.Setting {
	return []command.Setting{
		{Path: "model.lr", Value: spaces.String("{lr}")}, {Path: "model.opt", Value: spaces.String("{opt}")}, {Path: "model.flag", Value: spaces.String("{b}")},
		{Path: "paths.0", Value: spaces.String("{trial_dir:json}")}, {Path: "paths.1", Value: spaces.String("{trial_dir}/{seed}")}, {Path: "gone", Value: spaces.String("{off}")},
	}
}

// Values keep their kinds, everything else stays, and what is absent vanishes.
func TestSetInBaseFile(t *testing.T) {
	for name, text := range bases {
		f := command.File{From: name, To: "out", Text: text, Set: settings()}
		for _, s := range f.Set {
			if err := f.CheckSet(s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		got, err := f.Render(setBindings())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range map[string][]string{
			"base.json": {`"lr": 1.0e-05`, `"opt": "no"`, `"flag": true`, `"/t/\"it's\""`, `"/t/\"it's\"/7"`, "1e400", "12345678901234567890", `"x.y": 1`},
			"base.yaml": {"lr: 1.0e-05 # rate", `opt: "no"`, "flag: true", `- "/t/\"it's\""`, `"/t/\"it's\"/7"`, "1.0e+400", "12345678901234567890", "kept: ${model.lr}", "*m", "# of the model"},
			"base.toml": {"lr = 1e-05", `opt = "no"`, "flag = true", `/t/\"it's\"/7`, "= 1979-05-27\n", "= 07:32:00\n", "= 1979-05-27T07:32:00\n", "= 1979-05-27T00:32:00-07:00\n", "1234567890123456789", "[[zoo]]"},
		}[name] {
			if !strings.Contains(got, want) {
				t.Errorf("%s: there is no %s in\n%s", name, want, got)
			}
		}
		if strings.Contains(got, "gone") {
			t.Errorf("%s: an absent value is there:\n%s", name, got)
		}
	}
}

// Dates and times without a zone stay what they are, wherever lbotune runs.
func TestSetInOtherTimeZones(t *testing.T) {
	for _, zone := range []string{"Asia/Kolkata", "America/New_York"} {
		t.Run(zone, func(t *testing.T) {
			if _, err := time.LoadLocation(zone); err != nil {
				t.Skip(err)
			}
			cmd := exec.Command(os.Args[0], "-test.run", "^TestSetInBaseFile$")
			cmd.Env = append(os.Environ(), "TZ="+zone)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Python's readers see the values as they are, and nothing else changed.
func TestPythonReadsBaseFiles(t *testing.T) {
	effort.Thorough(t, "starts Python for each file")
	const script = `
import sys, json
def load(name, text):
    if name.endswith('json'): return json.loads(text)
    if name.endswith('yaml'):
        import yaml
        return yaml.safe_load(text)
    import tomllib
    return tomllib.loads(text)
name, before, after = sys.argv[1:]
want, got = load(name, before), load(name, after)
del want['gone']
want['model'].update(lr=1e-5, opt='no', flag=True)
want['paths'] = ['/t/"it\'s"', '/t/"it\'s"/7']
assert got == want and (name.endswith('toml') or str(got) == str(want)), (got, want)
`
	for name, text := range bases {
		module := strings.ReplaceAll(strings.TrimPrefix(name, "base."), "toml", "tomllib")
		if err := exec.Command("python3", "-c", "import "+module).Run(); err != nil {
			t.Logf("skipped %s: %v", name, err)
			continue
		}
		got, err := command.File{From: name, Text: text, Set: settings()}.Render(setBindings())
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("python3", "-c", script, name, text, got).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// Absent elements of a list vanish, whatever their order.
func TestAbsentElements(t *testing.T) {
	off := spaces.String("{off}")
	for name, text := range map[string]string{"a.json": `{"l": [0, 1, 2]}`, "a.yaml": "l: [0, 1, 2]", "a.toml": "l = [0, 1, 2]"} {
		t.Run(name, func(t *testing.T) {
			f := command.File{From: name, Text: text, Set: []command.Setting{{Path: "l.0", Value: off}, {Path: "l.2", Value: off}, {Path: "l.1", Value: spaces.Int(7)}}}
			got, err := f.Render(setBindings())
			if err != nil || strings.ContainsAny(got, "012") || !strings.Contains(got, "7") {
				t.Errorf("%s: got %v, %q", name, err, got)
			}
		})
	}
}

// A value that others are aliases of leaves it to the first of them when it vanishes.
func TestAbsentAnchor(t *testing.T) {
	f := command.File{From: "a.yaml", Text: "a: &rate 3\nb: {c: *rate, d: *rate}\n", Set: []command.Setting{{Path: "a", Value: spaces.String("{off}")}}}
	if got, err := f.Render(setBindings()); err != nil || got != "b: {c: &rate 3, d: *rate}\n" {
		t.Errorf("found %q, %v", got, err)
	}
}

// No value is set in vain: readers of YAML take one of two values of a key, mostly the last.
func TestUnclearBases(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\na: 2\n":               "the file has a twice",
		"b: {a: 1}\nm: {b: 1, b: 2}": "",
		"b:\n  a: 1\nb:\n  a: 2\n":   "the file has b twice",
		"a: 1\n---\na: 2\n":          "the base file has several documents; values are set in files of one",
		"a: 1\n---\n{b: \n":          "read the base file: yaml: line 3: did not find expected node content",
	} {
		t.Run(text, func(t *testing.T) {
			path := "a"
			if strings.HasPrefix(text, "b") {
				path = "b.a"
			}
			err := command.File{From: "x.yaml", Text: text}.CheckSet(command.Setting{Path: path, Value: spaces.Int(1)})
			if (err != nil) != (want != "") || err != nil && err.Error() != want {
				t.Errorf("found %v, want %q", err, want)
			}
		})
	}
}

func TestSetErrors(t *testing.T) {
	for name, text := range bases {
		f := command.File{From: name, Text: text}
		for path, missing := range map[string]string{"modle.lr": "modle", "model.lrr": "lrr", "model.lr.x": "x", "paths.2": "2", "zoo.9.x": "9"} {
			t.Run(path, func(t *testing.T) {
				err := f.CheckSet(command.Setting{Path: path, Value: spaces.Int(1)})
				var pe *command.PathError
				if !errors.As(err, &pe) || pe.Missing != missing {
					t.Errorf("%s: %s: got %v", name, path, err)
				}
				if path == "model.lrr" && (pe == nil || !slices.Contains(pe.Allowed, "lr")) {
					t.Errorf("%s: %s: %+v", name, path, pe)
				}
			})
		}
		if err := f.CheckSet(command.Setting{Path: "model", Value: spaces.Int(1)}); err == nil {
			t.Errorf("%s: a table was set", name)
		}
		f.Text = "{"
		if err := f.CheckSet(command.Setting{Path: "model", Value: spaces.Int(1)}); err == nil {
			t.Errorf("%s: broken text was read", name)
		}
	}
	if !json.Valid([]byte(bases["base.json"])) || (command.File{From: "x.ini"}).Settable() {
		t.Error("the bases are wrong")
	}
}

func TestNumbersOfABaseFile(t *testing.T) {
	for name, text := range map[string]string{
		"a.yaml": "b: {x: 1.0, y: [2, no]}\na: 3\ns: \"4\"\nd.e: 5\nn: .nan\nr: &r 6\nk: *r\n",
		"a.json": `{"b": {"x": 1.0, "y": [2, false]}, "a": 3, "s": "4", "d.e": 5, "r": 6}`,
		"a.toml": "a = 3\nr = 6\ns = \"4\"\n\"d.e\" = 5\n[b]\nx = 1.0\ny = [2]\n",
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range (command.File{From: name, Text: text}).Numbers() {
				got = append(got, s.Path+"="+command.Literal(s.Value))
			}
			// Nothing can be set at the alias, nor at a key with a dot.
			if want := "a=3 b.x=1.0 b.y.0=2 r=6"; strings.Join(got, " ") != want {
				t.Errorf("%s: %q, want %s", name, got, want)
			}
		})
	}
}
