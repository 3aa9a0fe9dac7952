package session_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

// What the parser says of an output without a value reaches the trial: the
// reason, what the program says of its own end, and what to write instead.
func TestWhyThereIsNoValue(t *testing.T) {
	reports := parser.Rule{Dialect: "cost-status"}
	for name, c := range map[string]struct {
		rule   parser.Rule
		stdout string
		kind   study.FailureKind
		text   string
	}{
		"memory": {reports, "cost=1; status=MEMOUT\n", study.FailReported,
			`the program reports that it ran out of memory ("MEMOUT" on line 1 of stdout)`},
		"crash": {reports, "hello\ncost=1; status=CRASHED\n", study.FailReported,
			`the program reports that it crashed ("CRASHED" on line 2 of stdout)`},
		"decimal comma": {parser.Rule{Metric: "loss"}, "loss=0,5\n", study.FailNoMetric,
			`metric "loss": "0,5" on line 1 of stdout is not a number; numbers need a decimal point and no separators: run the program with LC_ALL=C, or print one plain number`},
		"not finite": {parser.Rule{Metric: "loss"}, "loss=nan\n", study.FailNotFinite,
			`metric "loss" is nan on line 1 of stdout`},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Budget.Trials, cfg.Metrics[0].Rule = 1, c.rule
				f := &fakeLauncher{program: func(runner.Job) ending { return ending{stdout: c.stdout} }}
				st, err := finish(t, dir, &cfg, f)
				if err == nil || st.Trials[0].Failure == nil {
					t.Fatalf("%v, %+v", err, st.Trials[0])
				}
				if got := st.Trials[0].Failure; got.Kind != c.kind || got.Text != c.text {
					t.Errorf("%s: %s\nwant %s: %s", got.Kind, got.Text, c.kind, c.text)
				}
			})
		})
	}
}

// What the batch system says of an attempt that it did not begin may quote its script's output, and that a secret.
func TestSecretOfWhatDidNotBegin(t *testing.T) {
	t.Setenv("THE_TOKEN", "abcdefghijklmnop")
	cfg, dir := config(), filepath.Join(t.TempDir(), "s")
	cfg.Budget.Trials, cfg.Run.SecretEnv = 1, []string{"THE_TOKEN"}
	_, err := finish(t, dir, &cfg, &fakeLauncher{program: func(runner.Job) ending {
		return ending{err: fmt.Errorf("%w: its job has ended:\nabcdefghijklmnop is refused", runner.ErrNotBegun)}
	}})
	if text := strings.Join(lines(t, dir), ""); strings.Contains(text, "abcdefgh") || !strings.HasSuffix(err.Error(), "\n[THE_TOKEN] is refused") {
		t.Errorf("%v\n%s", err, text)
	}
}
