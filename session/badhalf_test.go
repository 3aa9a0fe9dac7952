package session_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

const badHalfTrials = 64

// With every trial failing, or printing huge values, in half of the space, a study
// converges in the other half; the bad half is proposed far less often than by
// chance, and where trials fail less and less.
func TestBadHalf(t *testing.T) {
	effort.Thorough(t, "of the quality of searches")
	seeds := effort.Of(3, 3, 5)
	for name, c := range map[string]struct {
		bad   ending
		fails bool
	}{
		"failing":   {ending{exit: runner.Exit{Code: 1}}, true},
		"diverging": {ending{stdout: "loss=1e100\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var early, late int // trials in the bad half, in either half of the study
			for seed := range uint64(seeds) {
				st := badHalf(t, seed, c.bad)
				for i, trial := range st.Trials {
					switch x, _ := trial.Values().Get("x"); {
					case x.Any().(float64) <= 0:
					case i < badHalfTrials/2:
						early++
					default:
						late++
					}
				}
				if best := st.Best(); best.Value > 0.01 {
					t.Errorf("seed %d: the best of %d trials is %v", seed, badHalfTrials, best.Value)
				}
			}
			half := seeds * badHalfTrials / 2
			t.Logf("of %d trials each, %d early and %d late ones were in the bad half", half, early, late)
			if early > half/4 || late > half/4 || c.fails && late >= early {
				t.Errorf("of %d trials each, %d early and %d late ones were in the bad half", half, early, late)
			}
		})
	}
}

// However trials fail, the study takes the same way.
func TestBadHalfHoweverItFails(t *testing.T) {
	effort.Thorough(t, "goes through a whole study for each way to fail")
	want := ""
	ways := []ending{
		{exit: runner.Exit{Code: 1}},
		{stdout: "loss=-1e9\n", takes: 24 * time.Hour}, // it hangs, and has a timeout
		{stdout: "loss=nan\n"},
		{stdout: "loss=-inf\n"},
		{stdout: "loss=1e999\n"},
		{stdout: "Traceback\n"},
		{exit: runner.Exit{Code: 139, Signal: "SIGSEGV"}},
	}
	for i, bad := range ways {
		got := ""
		for _, trial := range badHalf(t, 1, bad).Trials {
			got += fmt.Sprintln(trial.Values(), trial.Status, trial.Value)
		}
		if i == 0 {
			want = got
		}
		if got != want {
			t.Errorf("%+v:\n%s\nwant\n%s", bad, got, want)
		}
	}
}

// badHalf runs a study with the default optimizer whose program ends as bad does
// where x is positive, and elsewhere prints bumps with the minimum 0.
func badHalf(t *testing.T, seed uint64, bad ending) (st *study.State) {
	t.Helper()
	bubble(t, func(t *testing.T, dir string) {
		c := config()
		c.Seed, c.Budget.Trials, c.Run.Timeout, c.Run.FailureGuard = seed, badHalfTrials, study.Duration(time.Minute), -1
		c.Params[1] = spaces.Param{Name: "y", Kind: spaces.KindFloat, Min: -1, Max: 1}
		c.Command.Argv = []string{"half", "{x}", "{y}"}
		f := &fakeLauncher{program: func(job runner.Job) ending {
			x, err1 := strconv.ParseFloat(job.Argv[1], 64)
			y, err2 := strconv.ParseFloat(job.Argv[2], 64)
			if err1 != nil || err2 != nil {
				t.Errorf("command %q", job.Argv)
			}
			if x > 0 {
				return bad
			}
			return ending{stdout: fmt.Sprintf("loss=%v\n", bumps(x+0.4)+bumps(y-0.3))}
		}}
		st = conclude(t, &c, session.Options{Dir: dir, Launcher: f})
	})
	return st
}

// bumps has its minimum 0 at 0 and others beside it.
func bumps(x float64) float64 { return x*x + 0.15*(1-math.Cos(9*x)) }
