package main

import (
	"bytes"
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
