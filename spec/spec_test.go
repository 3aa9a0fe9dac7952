package spec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spec"
	"github.com/lbotune/lbotune/study"
)

var update = flag.Bool("update", false, "rewrite the golden error pages")

func parse(t *testing.T, path string) (study.Config, error) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Parse(filepath.ToSlash(path), src, "/start")
}

// Every page of complaints is kept as a golden file, so that a change of its
// words is seen.
func TestErrorPages(t *testing.T) {
	paths, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no bad specs found: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, err := parse(t, path)
			var se *spec.Error
			if !errors.As(err, &se) {
				t.Fatalf("got %v, want a *spec.Error", err)
			}
			golden := strings.TrimSuffix(path, ".toml") + ".golden"
			got := err.Error() + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("complaints differ from %s:\n%s", golden, got)
			}
		})
	}
}

func TestFullSpec(t *testing.T) {
	cfg, err := parse(t, "testdata/good/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range cfg.Params {
		names = append(names, p.Name)
	}
	if got, want := strings.Join(names, " "), "lr epochs optimizer momentum use_bn beta units batch"; got != want {
		t.Errorf("parameters in the order %s, want %s", got, want)
	}
	var metrics []string
	for _, m := range cfg.Metrics {
		metrics = append(metrics, fmt.Sprintf("%s %s%s %s", m.Name, m.Rule.Metric, m.Rule.JSON, m.Direction))
	}
	if got, want := strings.Join(metrics[1:], ", "), "accuracy accuracy , model size bytes , memory mem_gb "; got != want {
		t.Errorf("metrics %s, want %s", got, want)
	}
	if cfg.Run.Workers != 2 || len(cfg.Run.Slots) != 2 {
		t.Errorf("two slots give %d workers and %d slots", cfg.Run.Workers, len(cfg.Run.Slots))
	}
	if got := cfg.Run.Env; !reflect.DeepEqual(got, []string{"OMP_NUM_THREADS=1", "LR={lr}"}) {
		t.Errorf("environment in the order %q", got)
	}
	if cfg.Run.MaxLog != 10_000_000 || cfg.Budget.Goal == nil || *cfg.Budget.Goal != 0.01 || cfg.Dir != "/start" {
		t.Errorf("wrong values: %+v", cfg)
	}
}

// The journal keeps the whole configuration: it must survive JSON unchanged.
func TestConfigSurvivesJSON(t *testing.T) {
	cfg, err := parse(t, "testdata/good/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	first, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var back study.Config
	if err := json.Unmarshal(first, &back); err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(back)
	if err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Errorf("the configuration changed:\n%s\n%s", first, second)
	}
}

// Four times as many mistakes cost some four times as much, and not sixteen times.
func TestManyMistakes(t *testing.T) {
	cost := func(n int) float64 {
		text := "command = \"true\"\nobjective.metric = \"loss\"\nbudget.trials = 1\n"
		for i := range n {
			text += fmt.Sprintf("[params.x%d]\ntype = \"float\"\nmin = 0\nmax = 1\n", i)
		}
		return testing.AllocsPerRun(1, func() {
			if _, err := spec.Parse("s.toml", []byte(text), "/"); err == nil {
				t.Error("no mistake was found: the command uses no parameter")
			}
		})
	}
	if few, many := cost(100), cost(400); many > 8*few {
		t.Errorf("%v and %v allocations", few, many)
	}
}

// The lines of a spec may end as on Windows; a command of several has none of that.
func TestCarriageReturns(t *testing.T) {
	src, err := os.ReadFile("testdata/good/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	unix := append(src, "\n[[files]]\nto = 'many'\ntext = '''\na {lr}\nb\n'''\n"...)
	want, err := spec.Parse("testdata/good/full.toml", unix, "/start")
	if err != nil {
		t.Fatal(err)
	}
	got, err := spec.Parse("testdata/good/full.toml", bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n")), "/start")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, %v", got.Files, err)
	}
}

func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*/*.toml")
	for _, p := range paths {
		src, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, err := spec.Parse("fuzz.toml", src, "/")
		if err == nil {
			return
		}
		var se *spec.Error
		if !errors.As(err, &se) || len(se.Problems) == 0 {
			t.Fatalf("got %v, want complaints", err)
		}
		for _, p := range se.Problems {
			if p.Message == "" || p.Line < 0 || p.Line > bytes.Count(src, []byte("\n"))+1 {
				t.Errorf("complaint %+v", p)
			}
		}
		if strings.Contains(err.Error(), "\x1b") {
			t.Errorf("the page commands the terminal: %q", err)
		}
	})
}

// Several objectives are metrics with directions, in the order of the file.
func TestSeveralObjectives(t *testing.T) {
	src, err := os.ReadFile("testdata/good/several.toml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := spec.Parse("several.toml", src, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := cfg.Objectives()
	if len(o) != 2 || o[0].Name != "error" || o[0].Direction != study.Minimize || *o[0].Threshold != 20 || o[0].Rule.Metric != "error" ||
		o[1].Name != "speed" || o[1].Direction != study.Maximize || *o[1].Goal != 100 || o[1].Threshold != nil {
		t.Errorf("objectives %+v", o)
	}
	if m := cfg.Metrics[2]; m.Name != "memory" || *m.Max != 8e9 || m.Min != nil || !m.Limited() || cfg.Run.OKExit[1] != 3 {
		t.Errorf("constraint %+v, exit codes %v", m, cfg.Run.OKExit)
	}
}
