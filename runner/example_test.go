package runner_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/lbotune/lbotune/runner"
)

// An attempt runs in a directory of its own, which keeps its output and how it ended.
func ExampleLocal_Launch() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	job := runner.Job{
		ID:      "example/1/1",
		Dir:     filepath.Join(dir, "trials", "000001", "a1"),
		Shell:   "echo loss=0.5; exit 3",
		Timeout: time.Minute,
	}
	exit, err := new(runner.Local).Launch(context.Background(), job)
	if err != nil {
		log.Fatal(err)
	}
	end, err := runner.ReadTail(runner.At(filepath.Join(job.Dir, runner.StdoutName)), 100)
	fmt.Printf("exit code %d after %q, %v\n", exit.Code, end, err)
	// Output: exit code 3 after "loss=0.5\n", <nil>
}
