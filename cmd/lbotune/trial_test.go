package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/command"
	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// The command of a trial that lbotune runs is not shown if it writes into the trial's directory.
func TestCommandOfARunningTrial(t *testing.T) {
	param := spaces.Param{Name: "x", Kind: spaces.KindFloat, Max: 1}
	l := layout.Study("/home/me/a b.study")
	for line, shown := range map[string]bool{"./x {x}": true, "./x {x} --out={trial_dir}/r.json": false, "./x {x} {checkpoint_dir}": false} {
		for name, trial := range map[string]*study.Trial{"running": {}, "handed out": {Hand: true}, "done": {Status: optimizer.Succeeded}} {
			t.Run(line+", "+name, func(t *testing.T) {
				st := new(study.State)
				record(t, st, study.Created{ID: "a", Config: study.Config{Command: command.Command{Shell: line}, Params: []spaces.Param{param},
					Metrics: []study.Metric{{Name: "loss", Direction: study.Minimize}}, Dir: "/home/me"}})
				record(t, st, study.Proposed{Trial: 1, Values: spaces.Values{{Name: "x", Value: spaces.Float(0.5)}}})
				st.Trials[0].Hand, st.Trials[0].Status = trial.Hand, trial.Status
				got := commandLine(st, l, st.Trials[0])
				if want := shown || name != "running"; want != strings.Contains(got, "./x 0.5") || !want && got != "" {
					t.Errorf("%s, %s: %q", line, name, got)
				}
			})
		}
	}
}

// What a trial's panel shows is what the attempt printed that runs, or that the result is from: the same that
// its log shows.
func TestOutputOfAPanel(t *testing.T) {
	l := layout.Of(t.TempDir())
	for attempt, text := range []string{"", "first", "second"} {
		if dir := l.Attempt(layout.AttemptID{Trial: 1, Attempt: attempt}); attempt > 0 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, runner.StdoutName), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	src, err := sourceOf(new(study.State), l, false)
	if err != nil {
		t.Fatal(err)
	}
	both := []study.Attempt{{Number: 1}, {Number: 2}}
	for want, trial := range map[string]study.Trial{
		"first":  {Attempt: 1, Attempts: both, Status: optimizer.Succeeded}, // and confirmed by a second
		"second": {Attempt: 1, Attempts: both},
	} {
		trial.Number = 1
		if got := src.Output(&trial); got != want {
			t.Errorf("the panel shows %q; want %q", got, want)
		}
	}
}

// A value is said to be a mean of repeats where it is one, and not where the trial was stopped in one of them.
func TestShownRepeats(t *testing.T) {
	st := frontier(t, 0)
	st.Config.Run.Repeats = 2
	run := metricsOf([3]float64{1, 2, 3})
	for i, end := range []study.Finished{{Status: optimizer.Succeeded, Metrics: run, Last: run}, {Status: optimizer.Pruned, Metrics: run},
		{Status: optimizer.Succeeded, Metrics: run},           // of a journal from before the last run was kept
		{Status: optimizer.Pruned, Metrics: run, Last: run}} { // with a part of the resource
		end.Trial, end.Attempt = i+1, 2
		record(t, st, study.Proposed{Trial: end.Trial, Told: i, Values: spaces.Values{{Name: "x", Value: spaces.Float(0.5)}}})
		record(t, st, study.Ended{Trial: end.Trial, Attempt: 1, Metrics: run})
		if i == 1 {
			record(t, st, study.Cut{Trial: end.Trial, Attempt: 2, Metric: "size"})
		}
		record(t, st, end)
		var out bytes.Buffer
		if err := printTrial(&global{streams: streams{out: &out}}, st, "s.study", st.Trials[i]); err != nil {
			t.Fatal(err)
		}
		if want := "loss = 1" + when(i != 1, ", the mean of 2 runs") + "\n"; !strings.Contains(out.String(), want) {
			t.Errorf("trial %d, %s: want %q:\n%s", end.Trial, end.Status, want, &out)
		}
	}
}

// How long a trial took that somebody else has run is not known, and not 0.
func TestTimeOfATrialByHand(t *testing.T) {
	l := byHand(t, t.TempDir())
	for args, want := range map[string]string{"trials": "\n1      0.5    best    -     ", "show": "\nfinished  ", "export": "\n1,succeeded,,initial,",
		"export --format optuna": `"user_attrs":{"lbotune:origin":"initial","lbotune:status":`, "report -o -": "<td>succeeded</td><td>-</td>"} {
		words := strings.Fields(args)
		words = slices.Insert(words, 1, string(l))
		var out, said bytes.Buffer
		if code := execute(append(words, either(args == "show", []string{"1"}, nil)...), streams{strings.NewReader(""), &out, &said}); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d, %s, and not %q", args, code, &said, want)
		}
	}
}

// What was noted of a trial is said with its number, or with the trial, wherever the study is shown.
func TestNotesOfATrial(t *testing.T) {
	l := byHand(t, t.TempDir())
	run := func(args ...string) string {
		t.Helper()
		var out, said bytes.Buffer
		if code := execute(args, streams{strings.NewReader(""), &out, &said}); code != 0 {
			t.Fatalf("%s: exit code %d, %s", args, code, &said)
		}
		return out.String()
	}
	run("note", string(l), "--trial", "1", "diverged early")
	for args, want := range map[string]string{
		"status": "note       trial 1: diverged early\n", "status --json": `"trial 1: diverged early"`, "report --json -o -": "\n      \"notes\": [\n        \"diverged early\"",
		"show 1": "note      diverged early\n", "show 1 --json": `"diverged early"`, "export --format jsonl": `"notes":["diverged early"]`, "trials --json": `"notes":["diverged early"]`,
	} {
		words := strings.Fields(args)
		if got := run(append([]string{words[0], string(l)}, words[1:]...)...); !strings.Contains(got, want) {
			t.Errorf("%s lacks %s:\n%s", args, strconv.Quote(want), got)
		}
	}
}
