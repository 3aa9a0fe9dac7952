package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With --ranks the first variant of a suite is held against the others, at each checkpoint.
func TestSuiteRanks(t *testing.T) {
	cmd := suiteCommand()
	var out, progress bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&progress)
	cmd.SetArgs([]string{"standard", "--ranks", "--only", "levy4", "--seeds", "3", "--evals", "12",
		"--variant", `sobol={"method": "sobol"}`, "--variant", `random={"method": "random"}`,
		"--out", filepath.Join(t.TempDir(), "suite.csv")})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if told := progress.String(); strings.Contains(told, "\r") || !strings.HasSuffix(told, "\n6 of 6 runs\n") {
		t.Errorf("without a terminal the progress is %q", told)
	}
	for _, want := range []string{"### After 10 evaluations", "### After 12 evaluations", "| function | sobol | random |", "| levy4 | ",
		"| below, of the range, equal | random |", "| 0.1 | ", "| 1e-08 | ",
		"Functions on which sobol is better / alike / worse"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		})
	}
}

// Recorded runs stand beside those on the same instances, at the checkpoints that they know. What
// has run is not taken from there, nor what ran on others.
func TestSuiteBesideRecordedRuns(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "recorded.csv")
	text := "# runs\npeer,function,seed,best25,best50,best100\n" +
		"other,levy4,7,0.25,0.1,0.1\nother,levy4,9,9,9,9\nrandom,levy4,7,-1,-1,-1\nother,shekel4,7,-5,-5,-5\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := suiteCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SetArgs([]string{"standard", "--ranks", "--only", "levy4", "--seeds", "1", "--first-seed", "7", "--evals", "25",
		"--variant", `sobol={"method": "sobol"}`, "--variant", `random={"method": "random"}`,
		"--recorded", file, "--out", filepath.Join(dir, "suite.csv")})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(out.String(), "### After 25 evaluations")
	for _, c := range []struct{ text, want string }{
		{before, "| function | sobol | random |\n"},
		{after, "| function | sobol | random | other |\n"},
		{after, " | 0.25 |\n"},
		{after, "random 0/1/0"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if !strings.Contains(c.text, c.want) {
				t.Errorf("no %q in\n%s", c.want, c.text)
			}
		})
	}
}
