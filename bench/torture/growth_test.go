//go:build linux

package torture_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/optimizer"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

var (
	table = flag.Bool("table", false, "print what each command takes of large studies")
	sizes = flag.String("sizes", "100,1000,10000", "how many trials the studies of the table have")
)

// A shape is what a grown study is like, beside its length.
type shape struct {
	method                               string
	params, objectives, limits, readings int
	rule                                 string // that stops trials early, if any
}

// spec is the spec of the study.
func (s shape) spec(trials int) string {
	var b strings.Builder
	b.WriteString("command = \"echo")
	for i := range s.objectives {
		fmt.Fprintf(&b, " f%d={x0}", i)
	}
	for i := range s.limits {
		fmt.Fprintf(&b, " g%d=0", i)
	}
	b.WriteString("\"\n")
	if s.objectives == 1 {
		b.WriteString("[objective]\nmetric = \"f0\"\n")
		if s.readings > 0 {
			b.WriteString("step = \"epoch\"\n")
		}
	} else {
		for i := range s.objectives {
			fmt.Fprintf(&b, "[objectives.f%d]\n", i)
		}
	}
	for i := range s.limits {
		fmt.Fprintf(&b, "[constraints.g%d]\nmax = 0.5\n", i)
	}
	for i := range s.params {
		fmt.Fprintf(&b, "[params.x%d]\ntype = \"float\"\nmin = 0\nmax = 1\n", i)
	}
	fmt.Fprintf(&b, "[optimizer]\nmethod = %q\n[budget]\ntrials = %d\n[run]\nworkers = 2\nparams_from_env = true\n", s.method, trials)
	if s.rule != "" {
		fmt.Fprintf(&b, "[prune]\nmethod = %q\n", s.rule)
		if s.rule == "reachable" {
			fmt.Fprintf(&b, "max_step = %d\n", s.readings)
		}
	}
	return b.String()
}

// grow makes a study of spec.toml with so many finished trials, as if they had been run.
func (l *lab) grow(s shape, trials int) {
	l.Helper()
	l.check(os.RemoveAll(l.path("spec.study")))
	l.write("spec.toml", s.spec(1))
	l.run(0, "run", "spec.toml")
	var first study.Record
	_, err := journal.Read(l.path("spec.study/journal.jsonl"), func(line journal.Record) error {
		if line.Seq == 1 {
			return first.UnmarshalJSON(line.Raw)
		}
		return nil
	})
	l.check(err)
	l.check(os.RemoveAll(l.path("spec.study")))
	l.check(os.Mkdir(l.path("spec.study"), 0o700))
	j, err := journal.Create(l.path("spec.study/journal.jsonl"), first)
	l.check(err)
	r := rand.New(rand.NewPCG(*seed, 3))
	at := first.At
	for n := 1; n <= trials; n++ {
		at = at.Add(time.Second)
		for _, e := range s.trial(n, r) {
			err := j.AppendLazy(study.Record{At: at, Elapsed: at.Sub(first.At), Event: e})
			l.check(err)
		}
	}
	l.check(j.Close())
}

// trial is what the journal has of a trial: one objective is the distance to a point, and
// several are those to several, so that most trials are on the front.
func (s shape) trial(n int, r *rand.Rand) []study.Event {
	values := make(spaces.Values, s.params)
	at := make([]float64, s.params)
	for i := range values {
		at[i] = r.Float64()
		values[i] = spaces.Assignment{Name: fmt.Sprintf("x%d", i), Value: spaces.Float(at[i])}
	}
	metrics := study.Metrics{}
	for k := range s.objectives {
		sum := 0.0
		for i, x := range at {
			d := x - []float64{0.3, 0.7, 0.5}[(k+i)%3]
			sum += d * d
		}
		metrics[fmt.Sprintf("f%d", k)] = sum
	}
	for k := range s.limits {
		metrics[fmt.Sprintf("g%d", k)] = math.Abs(at[k%s.params] - at[0]*at[0])
	}
	events := []study.Event{study.Proposed{Trial: n, Told: n - 1, Pending: []int{}, Origin: optimizer.OriginExplore, Values: values, Note: optimizer.Note{Why: "uniform"}}}
	if s.readings > 0 {
		events = append(events, s.course(n, metrics["f0"], r))
	}
	return append(events, study.Finished{Trial: n, Attempt: 1, Status: optimizer.Succeeded, Metrics: metrics, Seconds: 1})
}

// course is that of a trial: what the rule has read of it, or what is shown.
func (s shape) course(n int, end float64, r *rand.Rand) study.Event {
	readings, shown := []study.Reading{}, []study.Measurement{}
	for i := 1; i <= s.readings; i++ {
		v := end + 1/float64(i) + 0.01*r.Float64()
		if i == s.readings {
			v = end
		}
		readings = append(readings, study.Reading{Step: float64(i), Value: v})
		shown = append(shown, study.Measurement{Step: float64(i), Metrics: study.Metrics{"f0": v}})
	}
	if s.rule == "" {
		return study.Measured{Trial: n, Attempt: 1, Measurements: shown}
	}
	return study.Readings{Trial: n, Attempt: 1, Readings: readings}
}

// shapes are the studies of the table. Those with nothing but parameters are compared with the first,
// and the others with that of as many parameters.
var shapes = []struct {
	name string
	shape
}{
	{"1 parameter", shape{params: 1, objectives: 1}},
	{"5 parameters", shape{params: 5, objectives: 1}},
	{"20 parameters", shape{params: 20, objectives: 1}},
	{"100 parameters", shape{params: 100, objectives: 1}},
	{"2 objectives", shape{params: 5, objectives: 2}},
	{"3 objectives", shape{params: 5, objectives: 3}},
	{"100, 2 objectives", shape{params: 100, objectives: 2}},
	{"100, 3 objectives", shape{params: 100, objectives: 3}},
	{"5 constraints", shape{params: 5, objectives: 1, limits: 5}},
	{"50 readings", shape{params: 1, objectives: 1, readings: 50}},
	{"50, median", shape{params: 1, objectives: 1, readings: 50, rule: "median"}},
	{"50, percentile", shape{params: 1, objectives: 1, readings: 50, rule: "percentile"}},
	{"50, asha", shape{params: 1, objectives: 1, readings: 50, rule: "asha"}},
	{"50, reachable", shape{params: 1, objectives: 1, readings: 50, rule: "reachable"}},
}

// looks are the commands of the table; what goes on with the study is the last.
var looks = [][]string{{"status"}, {"best"}, {"trials", "-n", "3"}, {"journal", "verify"}, {"export", "-o", "out.csv"}, {"export", "-o", "out.jsonl"},
	{"export", "-o", "out.log"}, {"report", "-o", "out.html"}, {"resume", "-q"}}

// TestGrowth prints what each command takes of studies of all shapes and -sizes: processor
// seconds, beside those of the shape that it is compared with, how fast that grows from size to
// size, and the most memory. It is no test of every day: scripts/scale.sh asks for it.
func TestGrowth(t *testing.T) {
	if !*table {
		t.Skip("scripts/scale.sh prints the table")
	}
	row := func(cells []string) {
		for i, cell := range cells {
			fmt.Printf("%-*s  ", []int{17, 6, 17}[min(i, 2)], cell)
		}
		fmt.Println()
	}
	head := []string{"study", "trials", "MiB"}
	for _, args := range looks {
		head = append(head, args[0]+strings.TrimPrefix(filepath.Ext(args[len(args)-1]), ".html"))
	}
	row(head)
	plain := map[int]map[string]float64{} // what those with nothing but so many parameters took
	for _, s := range shapes {
		s.method = "random"
		before, took := map[string]float64{}, map[string]float64{}
		last := 0
		base := plain[s.params]
		if base == nil {
			base, plain[s.params] = plain[1], took
		}
		for _, size := range strings.Split(*sizes, ",") {
			l := newLab(t)
			trials, err := strconv.Atoi(size)
			l.check(err)
			l.grow(s.shape, trials)
			line, peak := []string{s.name, size, ""}, 0
			for _, args := range looks {
				what := strings.Join(args, " ")
				if args[0] == "resume" {
					args = append(args, "-n", strconv.Itoa(trials+1))
				}
				l.check(os.RemoveAll(l.path("out.log"))) // which export leaves alone
				cpu, mib := l.spent(append(args, "spec.study")...)
				peak = max(peak, mib)
				cell := fmt.Sprintf("%.2f", cpu)
				if took[size+what] = cpu; base != nil {
					cell += fmt.Sprintf(" x%.1f", cpu/base[size+what])
				}
				if last > 0 {
					cell += fmt.Sprintf(" n^%.1f", math.Log(cpu/before[what])/math.Log(float64(trials)/float64(last)))
				}
				before[what], line = cpu, append(line, cell)
			}
			last = trials
			line[2] = strconv.Itoa(peak)
			row(line)
		}
	}
}
