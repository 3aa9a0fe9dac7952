package runner_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/lbotune/lbotune/runner"
)

// What a program writes into its record does not make its failure a success: the status of the
// supervisor, which is a child, is known without the record.
func TestForgedStatus(t *testing.T) {
	for line, want := range map[string]int{
		`echo '{"exit":0}' >> "$DIR/attempt.jsonl"; exit 3`:  3,
		`echo '{"exit":5}' >> "$DIR/attempt.jsonl"; exit 0`:  0,
		`echo '{"exit":0}' >> "$DIR/attempt.jsonl"; kill $$`: 143,
	} {
		t.Run(line, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a1")
			job := runner.Job{Dir: dir, ID: "forged/1/1", Shell: line, Env: []string{"DIR=" + dir}}
			exit, err := new(runner.Local).Launch(context.Background(), job)
			if err != nil || exit.Code != want {
				t.Errorf("%s: %+v, %v; want %d", line, exit, err, want)
			}
		})
	}
}

// Of an attempt that was no child of this process only the record tells how it ended. Where that
// says two things nothing is known, unless it was made to end, which is why it failed.
func TestForgedEnd(t *testing.T) {
	job, record := ended(t)
	for name, c := range map[string]struct {
		before string // the supervisor's line
		want   error
	}{
		"another":              {`{"exit":0}`, runner.ErrLost},
		"the same":             {`{"exit":13}`, nil},
		"another, but stopped": {`{"stop":"timeout"}` + "\n" + `{"exit":13}` + "\n" + `{"exit":0}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rewrite(t, job, exitLine.ReplaceAllStringFunc(record, func(line string) string { return c.before + "\n" + line }))
			for how, read := range map[string]func() (runner.Exit, error){
				"attached":  func() (runner.Exit, error) { return new(runner.Local).Attach(context.Background(), job) },
				"harvested": func() (runner.Exit, error) { return runner.Harvest(job) },
			} {
				if exit, err := read(); !errors.Is(err, c.want) || err == nil && exit.Code != 13 {
					t.Errorf("%s, %s: %+v, %v; want %v", name, how, exit, err, c.want)
				}
			}
		})
	}
}
