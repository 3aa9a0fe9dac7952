package docs_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
)

// Each figure of the README is what its source says today: a page of results, a spec, or a
// command that is run where tests may take long. Nothing else there is a measurement but the number
// of crashes, which session's tests count.
func TestFiguresOfTheReadme(t *testing.T) {
	readme := strings.Join(strings.Fields(read(t, "README.md")), " ")
	for _, c := range []struct {
		claim string // each group is a figure
		today func(*testing.T) []float64
		off   float64 // how far a figure may be off, as a share
		slow  bool
	}{
		{`trains a classifier on ([\d,]+) of its images (\d+) times`, mnist, 0, false},
		{`reproduces all (\d+) proposals exactly`, func(t *testing.T) []float64 { return mnist(t)[1:] }, 0, false},
		{`(\w+) more lines in the spec run each trial as a Slurm job`, slurmLines, 0, false},
		{`On (\d+) problems of COCO's bbob`, bbob(`\n\| all \((\d+)\)`), 0, false},
		{`it meets (\d+), (\d+) and (\d+) % of the targets after 25, 50 and 100`, bbob(`all \(480\) \| ([\d.]+), ([\d.]+), ([\d.]+)`), 0, false},
		{`BOBYQA meets (\d+), (\d+) and (\d+),`, bbob(`all \(480\) \| [^|]* \| ([\d.]+), ([\d.]+), ([\d.]+)`), 0, false},
		{`Gaussian process (\d+), (\d+) and (\d+)\.`, bbob(`all \(480\) (?:\| [^|]*){4}\| ([\d.]+), ([\d.]+), ([\d.]+)[^|\n]*(?:\|[^|\n]*){4}\|\n`), 0, false},
		{`one static program of (\d+) MB;`, programMB, 0.1, true},
	} {
		t.Run(c.claim, func(t *testing.T) {
			m := regexp.MustCompile(c.claim).FindStringSubmatch(readme)
			if m == nil {
				t.Errorf("the README does not say %s any more", c.claim)
			}
			if m == nil || c.slow && !effort.Long() {
				return
			}
			for i, now := range c.today(t) {
				if said := figure(t, m[i+1]); math.Abs(said-math.Round(now)) > c.off*now {
					t.Errorf("%s: it is %v today", m[0], now)
				}
			}
		})
	}
}

// On the surrogates of trainings lbotune ranks first, after each number of evaluations.
func TestReadmeRanksFirst(t *testing.T) {
	if !strings.Contains(read(t, "README.md"), "it ranks first of four from the first 25 trials on") {
		t.Error("the README does not say so any more")
	}
	rows := regexp.MustCompile(`(?m)^\| \*\*below 1e-3\*\* \|(.*)\|$`).FindAllStringSubmatch(read(t, "bench/results/yahpo.md"), -1)
	if len(rows) < 3 {
		t.Fatalf("%d rows of ranks", len(rows))
	}
	for _, row := range rows {
		ranks := regexp.MustCompile(`[\d.]+`).FindAllString(row[1], -1)
		for _, other := range ranks[1:] {
			if len(ranks) != 4 || figure(t, other) <= figure(t, ranks[0]) {
				t.Errorf("ranks %v", ranks)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// figure reads a figure as people write it.
func figure(t *testing.T, text string) float64 {
	t.Helper()
	words := map[string]float64{"five": 5, "six": 6, "seven": 7}
	if n, ok := words[strings.ToLower(text)]; ok {
		return n
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// figures finds the groups of a pattern in a text.
func figures(t *testing.T, text, pattern string) []float64 {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%s is not found", pattern)
	}
	var out []float64
	for _, s := range m[1:] {
		out = append(out, figure(t, s))
	}
	return out
}

func mnist(t *testing.T) []float64 {
	return figures(t, read(t, "examples/mnist-logreg/spec.toml"), `(?s)--n=(\d+).*\ntrials = (\d+)`)
}

func slurmLines(t *testing.T) []float64 {
	for _, b := range blocks(t, "docs/slurm.md") {
		if b.lang == "toml" {
			return []float64{float64(strings.Count(b.text, "\n"))}
		}
	}
	t.Fatal("docs/slurm.md has no spec")
	return nil
}

func bbob(row string) func(*testing.T) []float64 {
	return func(t *testing.T) []float64 { return figures(t, read(t, "bench/results/bbob.md"), row) }
}

// programMB holds the memory to what the README says at most, and gives the program's size.
func programMB(t *testing.T) []float64 {
	most := figures(t, read(t, "README.md"), `less than (\d+) MB of memory`)[0]
	now := figures(t, command(t, "bash", "scripts/footprint.sh"), `program: (\d+) MB\nmemory: (\d+) MB`)
	if now[1] >= most {
		t.Errorf("the README says less than %v MB of memory: it is %v today", most, now[1])
	}
	return now[:1]
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var warnings bytes.Buffer // of a busy machine, say
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, out, warnings.Bytes())
	}
	return string(out)
}
