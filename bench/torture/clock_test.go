//go:build linux

package torture_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/study"
)

// The wall clock may jump by years between two sessions, and what it showed is shown:
// nothing is computed from it. A budget of time counts the time that lbotune ran.
func TestClockJumps(t *testing.T) {
	for name, jump := range map[string]time.Duration{"from the future": 100 * 365 * 24 * time.Hour, "from the past": -50 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", "echo loss={x}", 3, 1)
			l.write("spec.toml", strings.Replace(l.read("spec.toml"), "[budget]", "[budget]\ntime = \"1h\"", 1))
			l.run(0, "run", "spec.toml")
			var records []study.Record
			_, err := journal.Read(l.path("spec.study/journal.jsonl"), func(line journal.Record) error {
				var r study.Record
				err := r.UnmarshalJSON(line.Raw)
				r.At = r.At.Add(jump)
				if _, closed := r.Event.(study.Closed); !closed {
					records = append(records, r)
				}
				return err
			})
			l.check(err)
			l.check(os.Remove(l.path("spec.study/journal.jsonl")))
			j, err := journal.Create(l.path("spec.study/journal.jsonl"), records[0])
			l.check(err)
			for _, r := range records[1:] {
				err := j.Append(r)
				l.check(err)
			}
			l.check(j.Close())

			l.run(0, "run", "-n", "6", "spec.toml")
			st := l.load()
			if n := st.Count(optimizer.Succeeded); n != 6 || st.Closed == nil || st.Closed.Why != study.EndTrials {
				t.Errorf("%d trials succeeded, closed %+v", n, st.Closed)
			}
			if st.Elapsed <= 0 || st.Elapsed > time.Minute {
				t.Errorf("the study has run for %v", st.Elapsed)
			}
			for _, command := range []string{"status", "best", "trials"} {
				l.run(0, command, "spec.study")
			}
		})
	}
}
