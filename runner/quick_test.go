package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lbotune/lbotune/runner"
)

func TestQuick(t *testing.T) {
	l := &runner.Local{}
	for name, job := range map[string]runner.Job{
		"ok":      {Shell: "echo hi; echo err >&2"},
		"argv":    {Argv: []string{"echo", "a\nb", ""}},
		"exit":    {Shell: "exit 3"},
		"kill":    {Shell: "kill -9 $$"},
		"nf":      {Argv: []string{"exit", "3"}},
		"timeout": {Shell: "sleep 100; true", Timeout: 50 * time.Millisecond, Grace: time.Second},
		"stub":    {Shell: "trap '' TERM; sleep 100; true", Timeout: 50 * time.Millisecond, Grace: 100 * time.Millisecond},
		"left":    {Shell: "setsid sleep 100 & sleep 99 & exit 4", Grace: 100 * time.Millisecond},
		"flood":   {Shell: "head -c 300000000 /dev/zero", MaxLog: 1 << 20},
	} {
		job.Dir, job.ID = filepath.Join(t.TempDir(), "a", "b"), "q/"+name
		b := time.Now()
		e, err := l.Launch(context.Background(), job)
		out, _ := runner.ReadTail(job.Dir+"/stdout", 100)
		es, _ := runner.ReadTail(job.Dir+"/stderr", 100)
		rec, _ := os.ReadFile(job.Dir + "/attempt.jsonl")
		e.Started, e.Ended = time.Time{}, time.Time{}
		t.Logf("%s %v: %+v %v\n%q %q\n%s", name, time.Since(b), e, err, out, es, rec)
	}
}
