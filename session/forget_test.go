package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/inbox"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/study"
)

// Nothing is compared with an excluded trial, until it counts again.
func TestPrunerForgetsTheExcluded(t *testing.T) {
	for want, change := range map[string]func(*session.Study) error{
		"3 6": func(s *session.Study) error { return byHand(s, study.ActionExclude, 1, "") },
		"3 cut@1:6": func(s *session.Study) error {
			return errors.Join(byHand(s, study.ActionExclude, 1, ""), byHand(s, study.ActionInclude, 1, ""))
		},
	} {
		t.Run(want, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Budget.Trials, c.Prune = 1, &study.Prune{Method: "median", MinTrials: 1}
				f := &fakeLauncher{program: func(job runner.Job) ending {
					if strings.HasSuffix(job.ID, "/1/1") {
						return ending{stdout: "loss=5\nloss=3\n", every: time.Minute}
					}
					return ending{stdout: "loss=6\nloss=6\n", every: time.Minute}
				}}
				if _, err := finish(t, dir, &c, f); err != nil {
					t.Fatal(err)
				}
				if err := session.Edit(nil, session.Options{Dir: dir}, change); err != nil {
					t.Fatal(err)
				}
				c.Budget.Trials = 2
				st, err := finish(t, dir, &c, f)
				if got := ends(st); err != nil || got != want {
					t.Errorf("got %s, %v; want %s", got, err, want)
				}
			})
		})
	}
}

// Nor while a trial runs that began before it was excluded.
func TestPrunerForgetsWhileATrialRuns(t *testing.T) {
	exclude, include := study.Request{Action: study.ActionExclude, Trial: 1}, study.Request{Action: study.ActionInclude, Trial: 1}
	for want, requests := range map[string][]study.Request{"3 6": {exclude}, "3 cut@1:6": {exclude, include}} {
		t.Run(want, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				c.Budget.Trials, c.Prune = 2, &study.Prune{Method: "median", MinTrials: 1}
				f := asking(t, dir, 2, requests...)
				ask := f.program
				f.program = func(job runner.Job) ending {
					ask(job)
					if strings.HasSuffix(job.ID, "/1/1") {
						return ending{stdout: "loss=5\nloss=3\n", every: time.Minute}
					}
					return ending{stdout: "loss=6\nloss=6\n", every: time.Minute}
				}
				st, err := finish(t, dir, &c, f)
				if got := ends(st); err != nil || got != want {
					t.Errorf("got %s, %v; want %s", got, err, want)
				}
			})
		})
	}
}

// A change of what counts leaves what the pruner knows of the trials that run: the row without a
// better reading, and the best reading of reachable between marks.
func TestPrunerKnowsWhatRuns(t *testing.T) {
	exclude, include := study.Request{Action: study.ActionExclude, Trial: 1}, study.Request{Action: study.ActionInclude, Trial: 1}
	again := study.Request{Action: study.ActionRerun, Rerun: []int{2}}
	for name, c := range map[string]struct {
		prune       study.Prune
		whole, last string
		want        string
	}{
		"patience":  {study.Prune{Method: "patience", Patience: 3}, "epoch=1 loss=5\n", "epoch=1 loss=3\nepoch=2 loss=4\nepoch=3 loss=4\nepoch=4 loss=4\nepoch=5 loss=1\n", "4"},
		"reachable": {study.Prune{Method: "reachable", Slope: 0.01, MaxStep: 1100}, "epoch=1000 loss=5\nepoch=1100 loss=5\n", "epoch=1000 loss=5.5\nepoch=1001 loss=4\nepoch=1050 loss=8\nepoch=1100 loss=9\n", "9"},
	} {
		for i, requests := range [][]study.Request{{}, {exclude}, {exclude, include}, {again}} {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				bubble(t, func(t *testing.T, dir string) {
					cfg := config()
					cfg.Budget.Trials, cfg.Prune = 4, &c.prune
					cfg.Metrics[0].Rule.Step = "epoch"
					st, err := finish(t, dir, &cfg, &fakeLauncher{program: func(job runner.Job) ending {
						switch {
						case strings.HasSuffix(job.ID, "/2/1"):
							return ending{exit: runner.Exit{Code: 3}}
						case !strings.HasSuffix(job.ID, "/4/1"):
							return ending{stdout: c.whole, every: time.Minute}
						}
						time.AfterFunc(150*time.Second, func() { // after its second reading
							for _, r := range requests {
								if _, err := inbox.Leave(layout.Of(dir), r); err != nil {
									t.Error(err)
								}
								time.Sleep(time.Microsecond)
							}
						})
						return ending{stdout: c.last, every: time.Minute}
					}})
					if err != nil {
						t.Fatal(err)
					}
					noneWait(t, dir)
					if got := fmt.Sprint(st.Trials[3].Value); got != c.want || st.Trials[3].Status != optimizer.Succeeded {
						t.Errorf("trial 4 has ended with %s, %s; want %s", got, st.Trials[3].Status, c.want)
					}
				})
			})
		}
	}
}
