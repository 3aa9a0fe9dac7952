package optimizer_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
)

var updateGolden = flag.Bool("update-golden", false, "record the proposals anew; only with a reason")

// recordsByKernel are the folders of the records, by optimizer.Kernel. Those of arm64 are made
// and checked on any machine: GOARCH=arm64 go test -exec qemu-aarch64-static.
func recordsByKernel() map[string]string {
	return map[string]string{"amd64+avx2+fma": "vectors", "amd64": "amd64", "arm64": "arm64"}
}

// Studies with one objective and without constraints have the proposals that they had
// when these were recorded: with failures, with pruned trials, under noise, in a mixed
// space and beside pending trials. Each kind of processor rounds in its own way, and in a few
// trials a last digit becomes another proposal: where there is no record of it only the initial
// design is that of the others.
func TestProposalsAreThoseRecorded(t *testing.T) {
	if want := os.Getenv("LBOTUNE_WANT_KERNEL"); want != "" && want != optimizer.Kernel() {
		t.Fatalf("the kernel is %s, want %s", optimizer.Kernel(), want)
	}
	folder, recorded := recordsByKernel()[optimizer.Kernel()]
	if !recorded {
		folder = "amd64"
	}
	for _, c := range []struct {
		name  string
		mixed bool
		set   optimizer.Settings
		noise float64
	}{
		{name: "plain"},
		{name: "mixed", mixed: true},
		{name: "noisy", noise: 0.3},
		{name: "ucb", set: optimizer.Settings{Acquisition: "ucb"}},
		{name: "paper", set: optimizer.Settings{Preset: "paper"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := recordedRun(t, c.set, c.mixed, c.noise)
			file := filepath.Join("testdata", "proposals", folder, c.name+".json")
			if *updateGolden && recorded {
				text, err := json.Marshal(got)
				if err == nil {
					err = os.WriteFile(file, append(text, '\n'), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want [][]float64
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			if !recorded {
				want = want[:4]
			}
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("trial %d: proposed %v, and it was %v", i+1, got[i], want[i])
				}
			}
		})
	}
}

// What is recorded holds without vectors too, and without fused multiplication.
func TestProposalsWithoutVectors(t *testing.T) {
	if optimizer.Kernel() != "amd64+avx2+fma" {
		t.Skip("TestProposalsAreThoseRecorded has run without vectors")
	}
	effort.Thorough(t, "repeats with slower arithmetic what is recorded")
	for kernel, without := range map[string]string{"amd64": "cpu.avx2=off,cpu.fma=off", "amd64+fma": "cpu.avx2=off"} {
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			args := []string{"-test.run=^TestProposalsAreThoseRecorded$"}
			if *updateGolden {
				args = append(args, "-update-golden")
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
			cmd.Env = append(os.Environ(), "GODEBUG="+without, "LBOTUNE_WANT_KERNEL="+kernel)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// recordedRun returns the proposals of a small study with two trials at a time.
func recordedRun(t *testing.T, set optimizer.Settings, mixed bool, noise float64) [][]float64 {
	t.Helper()
	params := []spaces.Param{
		{Name: "x", Kind: spaces.KindFloat, Min: -5, Max: 10},
		{Name: "y", Kind: spaces.KindFloat, Min: 0, Max: 15},
	}
	if mixed {
		params = append(params, spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 1, Max: 6},
			spaces.Param{Name: "c", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("a"), spaces.String("b"), spaces.String("c")}})
	}
	space, err := spaces.New(params...)
	if err != nil {
		t.Fatal(err)
	}
	opt, err := optimizer.New(space, 7, set)
	if err != nil {
		t.Fatal(err)
	}
	var points [][]float64
	var waiting []optimizer.Pending
	var proposals []optimizer.Proposal
	const trials = 26
	for k := 1; k <= trials; k++ {
		p, err := opt.Ask(t.Context(), optimizer.Query{Trial: k, Pending: waiting})
		if err != nil {
			t.Fatal(err)
		}
		points, proposals = append(points, p.Point), append(proposals, p)
		waiting = append(waiting, optimizer.Pending{Trial: k, Point: p.Point})
		if len(waiting) < 2 {
			continue
		}
		done := waiting[0]
		waiting = waiting[1:]
		o := optimizer.Observation{Trial: done.Trial, Proposal: proposals[done.Trial-1], Status: optimizer.Succeeded}
		v := extendedBranin(space.Decode(done.Point))
		v += noise * math.Sin(1e4*v)
		switch {
		case v > 120:
			o.Status = optimizer.Failed
		case done.Trial == 9:
			o.Status, o.Values = optimizer.Pruned, []float64{-v}
		default:
			o.Values = []float64{-v}
		}
		if err := opt.Tell(o); err != nil {
			t.Fatal(err)
		}
	}
	return points
}

// extendedBranin is Branin's function, with what other parameters add to it.
func extendedBranin(v spaces.Values) float64 {
	number := func(name string) float64 {
		a, _ := v.Get(name)
		x, _ := a.Number()
		return x
	}
	x, y := number("x"), number("y")
	f := math.Pow(y-5.1/(4*math.Pi*math.Pi)*x*x+5/math.Pi*x-6, 2) + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10
	if c, ok := v.Get("c"); ok {
		f += math.Abs(number("n") - 4)
		if c.Any() != "b" {
			f += 5
		}
	}
	return f
}
