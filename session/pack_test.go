package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/door"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// small runs a study of a command, which ends well in the first trial and fails in others, and lists what is in the
// directories of its attempts.
func small(t *testing.T, shell string, change func(*study.Config)) (l layout.Study, files string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	c := config()
	c.Command = command.Command{Shell: "[ {trial} = 1 ] || exit 9; " + shell + "; echo loss={x}; : {n}"}
	c.Budget.Trials, c.Dir = 2, filepath.Dir(dir)
	change(&c)
	if st := conclude(t, &c, session.Options{Dir: dir, Launcher: &runner.Local{}, Optimizer: newFakeOptimizer}); st.Closed == nil {
		t.Fatal("the study goes on")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "trials", "*", "a*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		files += " " + strings.TrimPrefix(path, filepath.Join(dir, "trials")+"/0000")
	}
	return layout.Of(dir), strings.TrimSpace(files)
}

// Of a trial that has succeeded stays what it has printed and written, and what its command mentions; of one that
// has failed, everything.
func TestSmallFilesGo(t *testing.T) {
	const failed = " 02/a1/attempt.jsonl 02/a1/params.json 02/a1/stderr 02/a1/stdout"
	for name, c := range map[string]struct {
		shell, want string
		change      func(*study.Config)
	}{
		"nothing else":                   {":", "01/a1/stdout" + failed, func(*study.Config) {}},
		"with a slot":                    {":", "01/a1/stdout 02/a1/attempt.jsonl 02/a1/params.json 02/a1/slot 02/a1/stderr 02/a1/stdout", func(c *study.Config) { c.Run.Workers = 2 }},
		"warnings":                       {"echo oh >&2", "01/a1/stderr 01/a1/stdout" + failed, func(*study.Config) {}},
		"its own file":                   {"echo 1 > {trial_dir}/model", "01/a1/model 01/a1/stdout" + failed, func(*study.Config) {}},
		"its own of a name that is ours": {"cd $LBOTUNE_TRIAL_DIR; echo 1 > params.json", "01/a1/params.json 01/a1/stdout" + failed, func(*study.Config) {}},
		"a mention":                      {"cat {params_file} > /dev/null", "01/a1/params.json 01/a1/stdout" + failed, func(*study.Config) {}},
		"a mention by name":              {"cat {trial_dir}/params.json >> {trial_dir}/stderr", "01/a1/params.json 01/a1/stderr 01/a1/stdout" + failed, func(*study.Config) {}},
		"a mention from inside":          {"cd {trial_dir}; cat params.json > /dev/null", "01/a1/params.json 01/a1/stdout" + failed, func(*study.Config) {}},
		"repeats":                        {":", "01/a1/stdout 01/a2/stdout" + failed, func(c *study.Config) { c.Run.Repeats = 2 }},
		"a process is left":              {"sleep 1000 &\n:", "01/a1/attempt.jsonl 01/a1/params.json 01/a1/stderr 01/a1/stdout" + failed, func(*study.Config) {}},
		"keep":                           {":", "01/a1/attempt.jsonl 01/a1/params.json 01/a1/stderr 01/a1/stdout" + failed, func(c *study.Config) { c.Run.Keep = 2 }},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := small(t, c.shell, c.change); got != c.want {
				t.Errorf("there are %s; want %s", got, c.want)
			}
		})
	}
}

// A trial's hook finds all files of the trial, and that of the end those of the best.
func TestHooksFindAllFiles(t *testing.T) {
	const list = `echo $LBOTUNE_EVENT $LBOTUNE_TRIAL $(ls $LBOTUNE_TRIAL_DIR | sort)`
	l, _ := small(t, ":", func(c *study.Config) {
		c.Hooks = &study.Hooks{Trial: list, End: list, Timeout: study.Duration(time.Hour)}
	})
	const files = " attempt.jsonl params.json stderr stdout\n"
	if got, err := os.ReadFile(l.HookLog()); err != nil || string(got) != "trial 1"+files+"trial 2"+files+"end 1"+files {
		t.Errorf("the hooks found\n%s, %v", got, err)
	}
}

// A trial has a directory for checkpoints in whatever form its place is asked for.
func TestCheckpointsInAnyForm(t *testing.T) {
	l, _ := small(t, ":", func(c *study.Config) { c.Files = []command.File{{Text: "dir: {checkpoint_dir:yaml}\n", To: "c.yaml"}} })
	if names, err := l.Names(l.Trial(1)); err != nil || len(names) != 2 {
		t.Errorf("in the trial's directory are %q, %v", names, err)
	}
}

// Where the journal has lost the end of a trial, what was packed tells of it.
func TestPackedTrialOfALostRecord(t *testing.T) {
	l, _ := small(t, "echo ran >> log", func(c *study.Config) { c.Run.Workers, c.Budget.Trials = 2, 1 })
	text, err := os.ReadFile(l.Journal())
	cut, _, found := strings.Cut(string(text), `{"seq":4,`) // what follows the proposal
	if !found || strings.Contains(cut, `"finished"`) {
		t.Fatalf("the journal begins with\n%s", cut)
	}
	if err = errors.Join(err, os.WriteFile(l.Journal(), []byte(cut), 0o600)); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(string(l), "trials", "packed.jsonl")
	text, err = os.ReadFile(packed)
	other := strings.Replace(string(text), `"slot":"0\n"`, `"slot":"1\n"`, 1)
	if err = errors.Join(err, os.WriteFile(packed, []byte(other), 0o600)); err != nil {
		t.Fatal(err)
	}
	opts := session.Options{Dir: string(l), Launcher: &runner.Local{}, Optimizer: newFakeOptimizer}
	elsewhere := filepath.Join(string(l), "elsewhere")
	if err = errors.Join(os.Rename(packed, elsewhere), os.Symlink(elsewhere, packed)); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(nil, opts)
	if err == nil {
		err = s.Run(t.Context(), nil)
	}
	if refused := (*door.Refusal)(nil); !errors.As(err, &refused) {
		t.Errorf("where it cannot be read: %v", err)
	}
	if err = errors.Join(s.Close(), os.Rename(elsewhere, packed)); err != nil {
		t.Fatal(err)
	}
	st := conclude(t, nil, opts)
	log, err := os.ReadFile(filepath.Join(filepath.Dir(string(l)), "log"))
	if !st.Trials[0].Succeeded() || st.Trials[0].Attempts[0].Slot != 1 || err != nil || string(log) != "ran\n" {
		t.Errorf("%v with the attempts %+v, after %q, %v", st.Trials[0].Status, st.Trials[0].Attempts, log, err)
	}
}
