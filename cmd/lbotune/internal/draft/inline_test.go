package draft_test

import (
	"strings"
	"testing"

	"github.com/lbotune/lbotune/cmd/lbotune/internal/draft"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/spec"
)

func TestInlineStudyIsASpec(t *testing.T) {
	in := draft.Inline{
		Name:   `odd "name"`,
		Params: []string{"lr=log:1e-6:1e-1", "depth=int:1:12", "width=logint:8:512", "opt=choice:sgd, adam, 3", "x=float:-1:1", "bn=bool"},
		Metric: "loss", Maximize: true, Trials: 50, Workers: 3, Seed: 9,
		Command: []string{"./train.py", "--lr={lr}", "--text=a \"quoted\" \\ word\tand tab", "{depth}", "{width}", "{opt}", "{x}", "{flag:bn}"},
	}
	src, err := in.TOML()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := spec.Parse("flags", src, "/")
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if got := strings.Join(cfg.Command.Argv, "|"); got != strings.Join(in.Command, "|") {
		t.Errorf("the command became %q", got)
	}
	if cfg.Name != in.Name || cfg.Metrics[0].Direction != "maximize" || cfg.Budget.Trials != 50 || cfg.Run.Workers != 3 || cfg.Seed != 9 {
		t.Errorf("wrong values: %+v", cfg)
	}
	if c := cfg.Params[3].Choices; len(c) != 3 || c[2] != spaces.Int(3) {
		t.Errorf("choices %v", c)
	}
	if p := cfg.Params[0]; p.Scale != spaces.Log || p.Min != 1e-6 || p.Max != 0.1 {
		t.Errorf("lr is %+v", p)
	}
}

func TestInlineShellCommand(t *testing.T) {
	in := draft.Inline{Params: []string{"x=float:0:1"}, Trials: 3, Command: []string{"./train {x} | tail -n 1"}}
	src, err := in.TOML()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := spec.Parse("flags", src, "/")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Command.Shell != in.Command[0] || !cfg.Metrics[0].Rule.LastNumber {
		t.Errorf("got %+v", cfg)
	}
}

func TestBadFlags(t *testing.T) {
	for text, want := range map[string]string{
		"lr":               "want NAME=FORM",
		"lr=lgo:1:2":       "did you mean log?",
		"lr=log:0:1":       "needs min > 0",
		"lr=float:1":       "two numbers",
		"b=bool:1":         `found "1" after bool`,
		"n=int:1.5:3":      "whole number",
		"c=choice:one":     "at least two",
		"2x=float:0:1":     "is not a name",
		"lr=float:a:b":     "two numbers",
		"n=int:4:4":        "must be smaller",
		"d=choice:a,b,a":   "is there twice",
		"lr=float:NaN:Inf": "finite",
	} {
		t.Run(text, func(t *testing.T) {
			in := draft.Inline{Params: []string{text}, Command: []string{"./train"}, Trials: 1}
			if _, err := in.TOML(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want an error with %q", text, err, want)
			}
		})
	}
	want := "there is no command: write it after --, as in lbotune run -p lr=log:1e-5:1 -- ./train --lr={lr}\n" +
		"there is no parameter: add -p NAME=KIND:..., for example -p lr=log:1e-5:1\n" +
		"the study would never stop: add -n N for a number of trials, or --time DURATION"
	if _, err := (draft.Inline{}).TOML(); err == nil || err.Error() != want {
		t.Error(err)
	}
}

func TestProgramName(t *testing.T) {
	for want, commands := range map[string][][]string{
		"x":        {{"python3", "x.py", "--lr={lr}"}, {"/usr/bin/python3.12", "-u", "/a/b/x.py"}, {"python3 x.py --lr={lr} | tail -1"}, {"./x"}, {"A=1 ./x.sh {n}"}, {"env", "A=1", "node", "x.js"}},
		"python3":  {{"python3", "-c", "print({lr})"}, {"python3"}},
		"perl":     {{"perl", "-ne", "print"}},
		"train":    {{"python", "-m", "train"}, {"bash", "train.sh"}},
		"tool-1.2": {{"./tool-1.2"}},
		"echo":     {{"echo {x}"}, {"echo", "{x}"}},
		"a-b":      {{"./{a}-{b}/a b", "x"}},
		"study":    {{"./-"}, {""}},
	} {
		t.Run(want, func(t *testing.T) {
			for _, argv := range commands {
				if got := draft.ProgramName(argv); got != want {
					t.Errorf("%q is called %q; want %q", argv, got, want)
				}
			}
		})
	}
}
