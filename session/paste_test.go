package session_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// The line to paste has what the spec gives the command.
func TestPaste(t *testing.T) {
	params := []spaces.Param{
		{Name: "lr", Kind: spaces.KindFloat, Min: 1e-6, Max: 1},
		{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 100},
		{Name: "opt", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("sgd"), spaces.String("adam w")}},
		{Name: "momentum", Kind: spaces.KindFloat, Min: 0, Max: 1, When: "opt == 'sgd'"},
		{Name: "nesterov", Kind: spaces.KindBool, When: "opt == 'sgd'", Inactive: spaces.Bool(false)},
	}
	values := spaces.Values{{Name: "lr", Value: spaces.Float(0.0123456)}, {Name: "n", Value: spaces.Int(5)}, {Name: "opt", Value: spaces.String("adam w")}}
	paste := func(c *study.Config, here string, slot int) (string, error) {
		b := study.TrialBindings("/s", c, &study.Trial{Number: 1}, 1, slot)
		b.Values = values
		return c.Command.Paste(here)(b)
	}
	c := study.Config{Command: command.Command{Shell: "./x --lr={lr}"}, Params: params, Dir: "/home/me"}
	if got, err := paste(&c, c.Dir, 0); err != nil || got != "./x --lr=0.0123456" {
		t.Errorf("got %s, %v", got, err)
	}
	with := c
	with.Command.Shell, with.Run.Env = "./x {lr} # fast", []string{"A=b"}
	if got, err := paste(&with, c.Dir, 0); err != nil || got != "(export A=b && ./x 0.0123456 # fast\n)" {
		t.Errorf("got %s, %v", got, err)
	}
	with.Run.Slots = []study.Slot{{}, {Env: []string{"GPU=7", "A={n}"}}}
	if got, err := paste(&with, c.Dir, 1); err != nil || got != "(export A=b && export GPU=7 && export A=5 && ./x 0.0123456 # fast\n)" {
		t.Errorf("got %s, %v", got, err)
	}
	c.Run = study.Run{Cwd: "my src", Env: []string{"A=b c", "M={momentum}"}, ParamsFromEnv: true}
	want := "(cd '/home/me/my src' && export A='b c' && export LBOTUNE_PARAM_LR=0.0123456 && export LBOTUNE_PARAM_N=5" +
		" && export LBOTUNE_PARAM_OPT='adam w' && export LBOTUNE_PARAM_NESTEROV=false" +
		" && ./x --lr=0.0123456)"
	if got, err := paste(&c, c.Dir, 0); err != nil || got != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	c.Run = study.Run{Cwd: "/src", Env: []string{"KEYS=1", "API_TOKEN=abc", "A.B_TOKEN=abc", "db_password=x y", "api-key=abc", "db.password.file=x"}, SecretEnv: []string{"WANDB"}}
	want = `(cd /src && export KEYS=1 && export API_TOKEN="${API_TOKEN:?is a secret}" && : 'the secret A.B_TOKEN is left out, since no shell can set it' && export db_password="${db_password:?is a secret}"` +
		` && : 'the secret api-key is left out, since no shell can set it' && : 'the secret db.password.file is left out, since no shell can set it'` +
		` && export WANDB="${WANDB:?is a secret}" && ./x --lr=0.0123456)`
	if got, err := paste(&c, c.Dir, 0); err != nil || got != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	c.Run = study.Run{Cwd: "/src"}
	for line, want := range map[string]string{
		"./x | tail -1":         "(cd /src && ./x | tail -1)",
		"make && ./x 2>&1":      "(cd /src && make && ./x 2>&1)",
		"make; ./x":             "(cd /src || exit; make; ./x)",
		"make || ./x":           "(cd /src || exit; make || ./x)",
		"./serve & ./x":         "(cd /src || exit; ./serve & ./x)",
		"make # first\n./x {n}": "(cd /src || exit; make # first\n./x 5\n)",
	} {
		c.Command.Shell = line
		if got, err := paste(&c, "/", 0); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", line, got, err, want)
		}
	}
	c.Run = study.Run{Env: []string{"A=1", "b.c=x y", "D E=2"}}
	c.Command.Shell = "./x; ./y '{{n}}'"
	if got, err := paste(&c, c.Dir, 0); err != nil || got != `(export A=1 || exit; env 'b.c'='x y' 'D E'=2 /bin/sh -c './x; ./y '\''{n}'\''')` {
		t.Errorf("names that no shell exports: %s, %v", got, err)
	}
	c.Command = command.Command{Argv: []string{"./x", "a b"}}
	c.Run.Env = c.Run.Env[1:]
	if got, err := paste(&c, c.Dir, 0); err != nil || got != `env 'b.c'='x y' 'D E'=2 ./x 'a b'` {
		t.Errorf("names that no shell exports: %s, %v", got, err)
	}
	c.Command = command.Command{Shell: "./x '{lr"}
	if got, err := paste(&c, c.Dir, 0); err == nil {
		t.Errorf("a command that no shell can read is shown as %s", got)
	}
}

// The line to paste is what has run: the same seed, and the resource of its rung.
func TestPasteIsWhatRan(t *testing.T) {
	for name, change := range map[string]func(*study.Config){
		"once":    func(*study.Config) {},
		"repeats": func(c *study.Config) { c.Run.Repeats = 3 },
		"confirm": func(c *study.Config) { c.Run.Confirm = 2 },
		"retries": func(c *study.Config) { c.Run.Retries = 1 },
		"rungs": func(c *study.Config) {
			c.Prune = &study.Prune{Method: "asha", MinResource: 1, Reduction: 2, Resource: "n"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				change(&c)
				c.Command.Argv = append(c.Command.Argv, "{seed}", "{trial_dir}")
				ran := map[string]string{}
				var mu sync.Mutex
				f := &fakeLauncher{program: func(job runner.Job) ending {
					mu.Lock()
					defer mu.Unlock()
					ran[job.Dir] = command.Command{Argv: job.Argv}.String()
					if name == "retries" {
						return flaky(job)
					}
					return parabola(job)
				}}
				st, err := finish(t, dir, &c, f)
				if err != nil {
					t.Fatal(err)
				}
				for _, trial := range st.Trials {
					last := *trial
					last.Status = "" // as of the attempt that has ended
					b := study.TrialBindings(layout.Study(dir), &st.Config, &last, trial.Attempt, trial.Slot)
					got, err := st.Config.Command.Paste(st.Config.Dir)(b)
					if want := ran[b.TrialDir]; err != nil || got != want {
						t.Errorf("%s: trial %d: got %s, %v\nwant %s", name, trial.Number, got, err, want)
					}
				}
			})
		})
	}
}

// A checkpoint directory that only a slot's environment names is there.
func TestCheckpointOfASlot(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Budget.Trials, c.Run.Slots = 1, []study.Slot{{Env: []string{"KEEP={checkpoint_dir}"}}}
		found := false
		f := &fakeLauncher{program: func(job runner.Job) ending {
			for _, e := range job.Env {
				if keep, ok := strings.CutPrefix(e, "KEEP="); ok {
					info, err := os.Stat(keep)
					found = err == nil && info.IsDir()
				}
			}
			return parabola(job)
		}}
		if _, err := finish(t, dir, &c, f); err != nil || !found {
			t.Errorf("%v, directory found: %v", err, found)
		}
	})
}
