package runner_test

import (
	"context"
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
		dir := filepath.Join(t.TempDir(), "a1")
		job := runner.Job{Dir: dir, ID: "forged/1/1", Shell: line, Env: []string{"DIR=" + dir}}
		exit, err := new(runner.Local).Launch(context.Background(), job)
		if err != nil || exit.Code != want {
			t.Errorf("%s: %+v, %v; want %d", line, exit, err, want)
		}
	}
}
