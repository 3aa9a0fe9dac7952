package runner_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lbotune/lbotune/runner"
)

// BenchmarkLaunch runs /bin/true, two attempts at a time.
func BenchmarkLaunch(b *testing.B) {
	for name, job := range map[string]runner.Job{
		"Shell": {Shell: "true"},
		"Argv":  {Argv: []string{"true"}},
	} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			local := &runner.Local{Adopt: true}
			next := make(chan int)
			var workers sync.WaitGroup
			for range 2 {
				workers.Go(func() {
					for i := range next {
						job := job
						job.ID = fmt.Sprintf("bench/%s/%d/%d", dir, b.N, i)
						job.Dir = filepath.Join(dir, fmt.Sprint(b.N), fmt.Sprint(i), "a1")
						exit, err := local.Launch(context.Background(), job)
						if err != nil || exit.Code != 0 {
							b.Errorf("%+v, %v", exit, err)
						}
					}
				})
			}
			for i := range b.N {
				next <- i
			}
			close(next)
			workers.Wait()
		})
	}
}
