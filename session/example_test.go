package session_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lbotune/lbotune/parser"
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
		Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}},
		Params:  []spaces.Param{spaces.NewFloat("x", -1, 1)},
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
// that is opened again goes on with them. It has no command.
func ExampleStudy_Try() {
	dir := temporary()
	defer os.RemoveAll(dir)
	s, err := session.Open(&study.Config{
		Params:  []spaces.Param{spaces.NewFloat("lr", 1e-5, 1).Log(), spaces.NewInt("layers", 1, 4)},
		Metrics: []study.Metric{{Name: "accuracy", Rule: parser.Rule{Metric: "accuracy"}, Direction: study.Maximize}},
		Budget:  study.Budget{Trials: 25},
	}, session.Options{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	err = s.Try(context.Background(), func(trial study.Trial) (study.Metrics, error) {
		lr := trial.Values().Float("lr")
		if lr > 0.5 {
			return nil, errors.New("diverged")
		}
		return study.Metrics{"accuracy": 1 - math.Abs(math.Log10(lr)+2)/10}, nil
	})
	fmt.Println(len(s.State().Order), "trials, the best above 0.95:", s.State().Best().Value > 0.95, err)
	// Output: 25 trials, the best above 0.95: true <nil>
}

// Whoever tells of trials later, or from elsewhere, asks for each and tells by its number.
func ExampleStudy_Ask() {
	dir, config := temporary(), smooth(2)
	defer os.RemoveAll(dir)
	s, err := session.Open(&config, session.Options{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	first, err1 := s.Ask(context.Background())
	second, err2 := s.Ask(context.Background())
	fmt.Println(err1, err2, s.Fail(first.Number, "out of flour"), s.Tell(second.Number, study.Metrics{"loss": 0.5}))
	_, err = s.Ask(context.Background())
	fmt.Println(errors.Is(err, session.ErrSpent), s.State().Best().Number)
	// Output:
	// <nil> <nil> <nil> <nil>
	// true 2
}

// A study of a shell command, as processes of this machine.
func ExampleOpen() {
	dir := temporary()
	defer os.RemoveAll(dir)
	s, err := session.Open(&study.Config{
		Command: study.Command{Shell: "echo loss=$(expr {n} \\* {n})"},
		Params:  []spaces.Param{spaces.NewInt("n", -3, 9)},
		Metrics: []study.Metric{{Name: "loss", Rule: parser.Rule{Metric: "loss"}, Direction: study.Minimize}},
		Budget:  study.Budget{Trials: 13},
		Run:     study.Run{Grace: study.Duration(10 * time.Second)},
	}, session.Options{Dir: dir, Launcher: &runner.Local{}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.Run(context.Background(), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.State().Best().Values(), s.State().Best().Value)
	// Output: n=0 0
}

// What is wrong with a config is said before anything is started.
func ExampleOpen_invalid() {
	config := smooth(3)
	config.Metrics[0].Direction = "min"
	_, err := session.Open(&config, session.Options{Dir: "never.study"})
	fmt.Println(err)
	// Output: invalid configuration: metrics.loss.direction: found "min"; did you mean minimize?
}

// What a finished study expects of a configuration, in its own units.
func ExampleLoadModel() {
	dir := finished()
	defer os.RemoveAll(dir)
	model, err := session.LoadModel(dir)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predict(context.Background(), spaces.Values{{Name: "x", Value: spaces.Float(0.5)}})
	fmt.Printf("%.2f %v %v\n", p.Mean, p.Low <= 0.0625 && 0.0625 <= p.High, err)
	// Output: 0.06 true <nil>
}

// finished is the directory of a study of (x − 1/4)².
func finished() string {
	dir, config := temporary(), smooth(12)
	s, err := session.Open(&config, session.Options{Dir: dir, Launcher: inProcess(func(x float64) float64 { return (x - 0.25) * (x - 0.25) })})
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(s.Run(context.Background(), nil), s.Close()); err != nil {
		log.Fatal(err)
	}
	return dir
}

// temporary is a directory that is not there after the test.
func temporary() string {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}
