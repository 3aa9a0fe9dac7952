package session_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/session"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// inProcess is a launcher whose attempts are calls of a function.
type inProcess func(x float64) (loss float64)

// Launch implements runner.Launcher.
func (f inProcess) Launch(ctx context.Context, job runner.Job) (exit runner.Exit, err error) {
	if err := runner.Claim(job.Dir); err != nil { // no attempt runs twice
		return exit, err
	}
	x, err := strconv.ParseFloat(job.Argv[1], 64)
	if err != nil {
		return exit, err
	}
	exit.Started = time.Now()
	text := fmt.Appendf(nil, "loss=%v\n", f(x))
	err = errors.Join(os.WriteFile(filepath.Join(job.Dir, runner.StdoutName), text, 0o600),
		os.WriteFile(filepath.Join(job.Dir, runner.StderrName), nil, 0o600))
	exit.Ended = time.Now()
	return exit, err
}

// smooth is a study of one parameter.
func smooth(trials int) study.Config {
	return study.Config{
		Name:    "smooth",
		Command: study.Command{Argv: []string{"smooth", "{x}"}},
		Metrics: []study.Metric{{Name: "loss", Rule: study.Rule{Metric: "loss"}, Direction: study.Minimize}},
		Params:  []spaces.Param{{Name: "x", Kind: spaces.KindFloat, Min: -1, Max: 1}},
		Budget:  study.Budget{Trials: trials},
		Run:     study.Run{Workers: 1},
	}
}

// A study whose trials run where its launcher says: here, as calls of a function.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	config := smooth(12)
	s, err := session.Open(&config, session.Options{
		Dir:      filepath.Join(dir, "smooth.study"),
		Launcher: inProcess(func(x float64) float64 { return (x - 0.25) * (x - 0.25) }),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.Run(context.Background(), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d trials, the best has a loss of %.4f\n", len(s.State().Trials), s.State().Best().Value)
	// Output: 12 trials, the best has a loss of 0.0000
}

// Trials that the caller runs are in the journal before they are handed out, and a study
// that is opened again goes on with them.
func ExampleStudy_Ask() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	config := smooth(3)
	s, err := session.Open(&config, session.Options{Dir: filepath.Join(dir, "smooth.study")})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for range config.Budget.Trials {
		trial, err := s.Ask(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		x, _ := trial.Values[0].Value.Number()
		if x > 0.4 {
			err = s.Tell(trial.Number, 0, nil, "diverged")
		} else {
			err = s.Tell(trial.Number, x*x, nil, "")
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	for _, t := range s.State().Trials {
		fmt.Println(t.Number, t.Status)
	}
	// Output:
	// 1 succeeded
	// 2 failed
	// 3 succeeded
}
