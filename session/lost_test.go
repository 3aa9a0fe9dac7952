package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
)

// losing is a launcher that loses attempts before they have begun, all from a number on.
type losing struct {
	fakeLauncher
	from, asked int
	enough      func() // is called where it has been asked too often
}

func (l *losing) Launch(ctx context.Context, job runner.Job) (runner.Exit, error) {
	if l.asked++; l.asked > 1000 {
		l.enough()
	}
	if l.asked < l.from {
		return l.fakeLauncher.Launch(ctx, job)
	}
	return runner.Exit{}, runner.ErrLost
}

// A launcher that loses every attempt at once is not asked for ever, neither for trials nor for the setup.
func TestLauncherThatLosesAll(t *testing.T) {
	for name, setup := range map[string]string{"trials": "", "setup": "true"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, dir string) {
				c := config()
				program := func(job runner.Job) ending {
					if job.Shell != "" {
						return ending{}
					}
					return parabola(job)
				}
				ctx, cancel := context.WithCancel(t.Context())
				f := &losing{fakeLauncher: fakeLauncher{program: program}, from: 4, enough: cancel}
				if c.Setup = setup; setup != "" {
					f.from = 1
				}
				s, err := session.Open(&c, session.Options{Dir: dir, Launcher: f, Optimizer: newFakeOptimizer})
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Run(ctx, nil); err == nil || !strings.Contains(err.Error(), "attempts in a row have not begun") {
					t.Errorf("asked %d times: %v", f.asked, err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if st, err := finish(t, dir, &c, &fakeLauncher{program: program}); err != nil || len(st.Order) != c.Budget.Trials {
					t.Errorf("afterwards %v: %d trials", err, len(st.Order))
				}
			})
		})
	}
}
