package session_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// A thinker takes its time for each proposal.
type thinker struct {
	optimizer.Optimizer
	thinks time.Duration
}

func (o thinker) Ask(ctx context.Context, q optimizer.Query) (optimizer.Proposal, error) {
	time.Sleep(o.thinks)
	return o.Optimizer.Ask(ctx, q)
}

// Workers that wait for proposals are noticed, once, and by status; others are not. Where studies share
// slots, the workers may wait for these.
func TestIdleWorkersAreNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		takes, thinks time.Duration
		workers       int
		want          string
		slots         int // shared with others, 0 for none
	}{
		"short trials":      {time.Second, 500 * time.Millisecond, 8, "workers are idle 75 % of the time: trials are short, 1s each", 0},
		"fast proposals":    {time.Second, 50 * time.Millisecond, 8, "", 0},
		"long trials":       {10 * time.Second, 500 * time.Millisecond, 8, "", 0},
		"shared slots":      {time.Second, 50 * time.Millisecond, 8, "", 2},
		"one worker thinks": {time.Second, time.Second, 1, "workers are idle 50 % of the time: trials are short, 1s each", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if c.slots > 0 || c.want == "" || c.workers == 1 {
				effort.Thorough(t, "waits thousands of times")
			}
			bubble(t, func(t *testing.T, dir string) {
				cfg := config()
				cfg.Run.Workers, cfg.Budget.Trials = c.workers, 200
				f := &fakeLauncher{program: func(job runner.Job) ending {
					e := parabola(job)
					e.takes = c.takes
					return e
				}}
				var log bytes.Buffer
				seen := ""
				opts := session.Options{Dir: dir, Launcher: f, Log: slog.New(slog.NewTextHandler(&log, nil)),
					Optimizer: func(sp *spaces.Space, seed uint64, _ optimizer.Settings, _ ...optimizer.Earlier) (optimizer.Optimizer, error) {
						o, err := optimizer.New(sp, seed, optimizer.Settings{Method: "random"})
						return thinker{o, c.thinks}, err
					}}
				if c.slots > 0 {
					opts.Share = sharers(t, filepath.Join(t.TempDir(), "shared"), c.slots)
				}
				s, err := session.Open(&cfg, opts)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				f2 := f.program
				f.program = func(job runner.Job) ending {
					if strings.HasSuffix(job.ID, "/190/1") {
						if st, err := study.Load(dir); err == nil {
							seen = st.Idle()
						}
					}
					return f2(job)
				}
				if err := s.Run(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(log.String(), "workers are idle"); c.want == "" && n > 0 || c.want != "" && (n != 1 || !strings.Contains(log.String(), c.want)) {
					t.Errorf("want %q once, found\n%s", c.want, &log)
				}
				if !strings.HasPrefix(seen, c.want) || c.want == "" && seen != "" {
					t.Errorf("the state says %q, want %q", seen, c.want)
				}
				if s.State().Idle() != "" {
					t.Error("a study that has ended has idle workers")
				}
			})
		})
	}
}
