package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/bench/problems"
	"github.com/lbotune/lbotune/optimizer"
)

// The expected values come from an independent implementation in Python.
func TestMannWhitney(t *testing.T) {
	a := []float64{1.1, 2.2, 3.3, 4.4, 5.5}
	for _, c := range []struct {
		b    []float64
		want float64
	}{
		{[]float64{6, 7, 8, 9, 10}, 0.01218578},
		{[]float64{1.1, 2.2, 3.3, 4.4, 5.5}, 1},
		{[]float64{0.5, 2.2, 6, 7, 8}, 0.4633439},
	} {
		if got := mannWhitney(a, c.b); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("p = %.7f, want %.7f", got, c.want)
		}
	}
}

// A quantile among infinite regrets is a number, also where it falls on one of the values.
func TestQuantile(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		xs   []float64
		q, v float64
	}{{[]float64{3, 1}, 0.5, 2}, {[]float64{1, 2, inf, inf, 0}, 0.5, 2}, {[]float64{1, inf}, 0.5, inf}, {[]float64{inf, inf}, 0.5, inf}, {[]float64{7}, 0.9, 7}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if v := quantile(c.xs, c.q); v != c.v {
				t.Errorf("quantile %v of %v: %v; want %v", c.q, c.xs, v, c.v)
			}
		})
	}
}

func TestRanksShareTies(t *testing.T) {
	got := ranks(map[string]float64{"a": 1, "b": 3, "c": 1, "d": 9})
	for name, want := range map[string]float64{"a": 1.5, "c": 1.5, "b": 3, "d": 4} {
		t.Run(name, func(t *testing.T) {
			if got[name] != want {
				t.Errorf("rank of %s is %v, want %v", name, got[name], want)
			}
		})
	}
}

func TestHolm(t *testing.T) {
	if got := holm([]float64{0.01, 0.04, 0.03}); !slices.EqualFunc(got, []float64{0.03, 0.06, 0.06}, near) {
		t.Errorf("%v", got)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-3 }

// The run of b that is better by chance moves the interval of its mean rank; with a floor
// above everything all are equal.
func TestRankIntervals(t *testing.T) {
	r := newRegrets()
	for i, v := range []float64{1, 2, 3, 4, 5} {
		r.add("a", "f", v)
		r.add("b", "f", v+10)
		r.add("a", "g", v)
		r.add("b", "g", []float64{0.5, 7, 0.5, 7, 7}[i])
	}
	r.ranges["f"], r.ranges["g"] = 1, 1
	for cut, want := range map[float64][2]float64{0: {1.5, 2}, 100: {1.5, 1.5}} {
		got := r.floored(cut).rankIntervals()["b"]
		if got != want {
			t.Errorf("floor %v: %v, want %v", cut, got, want)
		}
	}
	if behind := r.behind("b"); len(behind) != 2 || !strings.HasPrefix(behind[0], "a on f (13 against 3, 5 runs, p = 0.0") {
		t.Errorf("%q", behind)
	}
}

// The medians that the recording of the peers reported with its runs.
func TestRecordedPeers(t *testing.T) {
	r := newRegrets()
	if err := r.addPeers(100); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		peer, function string
		want           float64
	}{
		{"optuna_gp_det", "hartmann6", 1.4e-4}, {"dlib", "rosenbrock4", 6.2}, {"optuna_tpe", "michalewicz10", 5.5},
		{"dlib", "branin2", floor},
	} {
		t.Run(c.peer, func(t *testing.T) {
			if got := median(r.of(c.peer, c.function)); math.Abs(got/c.want-1) > 0.05 {
				t.Errorf("median of %s on %s is %v, want about %v", c.peer, c.function, got, c.want)
			}
		})
	}
	for at, known := range map[int]bool{5: true, 10: true, 25: true, 50: true, 100: true, 7: false, 200: false} {
		if err := newRegrets().addPeers(at); (err == nil) != known {
			t.Errorf("after %d evaluations: %v", at, err)
		}
	}
	if n := len(r.everywhere()); n != 11 {
		t.Errorf("%d peers have every function, want 11", n)
	}
}

func smallJobs(evals int) []job {
	c := common{seeds: 2, evals: evals}
	var jobs []job
	for _, v := range []variant{{name: "lbotune"}, randomSearch()} {
		jobs = append(jobs, c.jobs(func(int) []problems.Objective { return []problems.Objective{problems.Branin().Objective()} }, v)...)
	}
	return jobs
}

func TestRunsAreRepeatable(t *testing.T) {
	for _, j := range smallJobs(12) {
		j.workers = 3
		a, err := j.run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		b, err := j.run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(a.points) != 12 {
			t.Fatalf("%d points of 12", len(a.points))
		}
		for i := range a.points {
			if a.points[i].Y != b.points[i].Y {
				t.Fatalf("%s: evaluation %d differs: %v and %v", j.variant, i+1, a.points[i].Y, b.points[i].Y)
			}
		}
	}
}

// A store that lost its last run to a crash makes that run again and no other.
func TestStoreGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.csv")
	jobs := smallJobs(6)
	make := func() map[key]run {
		s, err := openStore(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if err := s.complete(context.Background(), jobs, io.Discard); err != nil {
			t.Fatal(err)
		}
		return s.runs
	}
	first := make()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(string(text), "\n"); rows != 1+4*(6+1) {
		t.Fatalf("%d rows, want %d", rows, 1+4*(6+1))
	}
	if err := os.WriteFile(path, text[:len(text)-9], 0o644); err != nil {
		t.Fatal(err)
	}
	second := make()
	for k, r := range first {
		if len(second[k].points) != len(r.points) {
			t.Fatalf("%v has %d points, had %d", k, len(second[k].points), len(r.points))
		}
		for i, p := range r.points {
			if again := second[k].points[i].Y; math.Abs(p.Y-again) > 1e-9*math.Abs(p.Y) {
				t.Errorf("%v: evaluation %d became %v, was %v", k, i+1, again, p.Y)
			}
		}
	}
}

// Every part of the reproduction runs, on one problem and a few evaluations.
func TestReproductionSmoke(t *testing.T) {
	for _, part := range []string{"main", "tasks", "product", "kappa", "beta", "essentials"} {
		t.Run(part, func(t *testing.T) {
			dir := t.TempDir()
			cmd := reproduceCommand()
			var out strings.Builder
			cmd.SetOut(&out)
			cmd.SetErr(io.Discard)
			args := []string{"--part", part, "--only", "branin2", "--seeds", "1", "--evals", "9", "--out", filepath.Join(dir, "r.csv")}
			figures := part == "main" || part == "product"
			if figures {
				args = append(args, "--figures", filepath.Join(dir, "figures"))
			}
			cmd.SetArgs(args)
			if err := cmd.Execute(); err != nil {
				t.Fatalf("%s: %v", part, err)
			}
			if !strings.Contains(out.String(), "branin2") {
				t.Errorf("%s prints no table:\n%s", part, out.String())
			}
			again := reproduceCommand()
			var second strings.Builder
			again.SetOut(&second)
			again.SetErr(io.Discard)
			again.SetArgs(args)
			if err := again.Execute(); err != nil || second.String() != out.String() {
				t.Errorf("%s does not go on from its own file: %v", part, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "figures", "branin2-log.png")); figures && err != nil {
				t.Errorf("%s: %v", part, err)
			}
		})
	}
}

// After 10, 25 and 50 evaluations runs are ranked beside recorded ones at all floors, in pairs, too, and
// the first evaluations are shown beside those of the four best peers that have enough runs.
func TestCompare(t *testing.T) {
	cmd := compareCommand()
	var out, progress strings.Builder
	cmd.SetOut(&out)
	cmd.SetErr(&progress)
	cmd.SetArgs([]string{"--only", "hartmann6", "--seeds", "2", "--evals", "50", "--brief", "--curves", "--variant", "random", "--out", filepath.Join(t.TempDir(), "compare.csv")})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	for want, times := range map[string]int{
		"### After 10 evaluations\n": 1, "### After 25 evaluations\n": 1, "### After 50 evaluations\n": 1, "### After 100": 0,
		"| **below 0.1 of the range equal** | ": 3, "\n| 0.01 | ": 3, "\n| 1e-08 | ": 3,
		"runs or more: optuna_gp, optuna_gp_det, turbo1, botorch_logei.\n": 1, "\n#### First evaluations of ": 5, "#### First evaluations of skopt_gp": 0,
		"\n| function | 5 | 10 | 15 | 20 | 25 | 30 | 35 | 40 | 45 | 50 |\n": 5,
	} {
		t.Run(want, func(t *testing.T) {
			if n := strings.Count(out.String(), want); n != times {
				t.Errorf("%d times %q in\n%s", n, want, out.String())
			}
		})
	}
	cmd.SetArgs([]string{"--evals", "30", "--curves"})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "--evals 30") {
		t.Errorf("curves of 50 evaluations from 30: %v", err)
	}
}

func TestPublishRewritesItsSection(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	src := "before\n<!-- begin x -->\nold\n<!-- end x -->\nafter\n"
	if err := os.WriteFile(page, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := publish(compareCommand(), page, "x", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(src, "old", "new", 1); string(got) != want {
		t.Errorf("the page became %q", got)
	}
	if err := publish(compareCommand(), page, "missing", ""); err == nil {
		t.Error("a page without the section was accepted")
	}
}

func TestVariantsAreChecked(t *testing.T) {
	v, err := parseVariants([]string{`a={"kappa":3}`, "lbotune", "random", "none"}, variant{name: "none"})
	if err != nil || len(v) != 4 || v[0].settings.Kappa != 3 || v[1].settings != (optimizer.Settings{}) ||
		v[2] != randomSearch() || v[3] != (variant{name: "none"}) {
		t.Errorf("got %+v, %v", v, err)
	}
	for _, bad := range []string{`a={"kapa":3}`, `a={"kappa":-3}`, `a={`, "b", "Random"} {
		t.Run(bad, func(t *testing.T) {
			if _, err := parseVariants([]string{bad}); err == nil {
				t.Errorf("%s was accepted", bad)
			}
		})
	}
}
