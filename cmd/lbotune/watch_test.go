package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/study"
)

func TestSparkline(t *testing.T) {
	levels := []rune("01234567")
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{[]float64{8, 4, 4, 0}, 10, "7440"},
		{[]float64{0, 4, 8}, 10, "047"},
		{[]float64{1000, 10, 1}, 10, "720"}, // a logarithmic scale
		{[]float64{2, 2}, 10, "00"},
		{[]float64{7, 6, 5, 4, 3, 2, 1, 0}, 4, "6420"}, // the last of those that share one
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := sparkline(c.values, c.width, levels); got != c.want {
				t.Errorf("%v in %d: %s, want %s", c.values, c.width, got, c.want)
			}
		})
	}
}

func TestWindow(t *testing.T) {
	text := "first line\nsecond\nüüüüüü\nfourth\n"
	for _, c := range []struct {
		columns, rows int
		want          string
	}{
		{0, 0, "first line|second|üüüüüü|fourth"},
		{80, 24, "first line|second|üüüüüü|fourth"},
		{6, 24, "first|secon|üüüüü|fourt"},
		{80, 3, "first line|second|           2 more"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := strings.Join(window(text, c.columns, c.rows), "|"); got != c.want {
				t.Errorf("in %d × %d: %q, want %q", c.columns, c.rows, got, c.want)
			}
		})
	}
}

func TestTableInPieces(t *testing.T) {
	rows := [][]string{{"trial", "value", "üüüü", "b"}, {"1", "0.5", "x", "a long one"}}
	for columns, want := range map[int]string{
		0:  "trial  value  üüüü  b\n1      0.5    x     a long one\n",
		30: "trial  value  üüüü  b\n1      0.5    x     a long one\n",
		29: "trial  value  üüüü\n1      0.5    x\n\ntrial  b\n1      a long one\n",
		12: "trial  value\n1      0.5\n\ntrial  üüüü\n1      x\n\ntrial  b\n1      a long one\n",
		3:  "trial  value\n1      0.5\n\ntrial  üüüü\n1      x\n\ntrial  b\n1      a long one\n",
	} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			if got := tableText(rows, columns); got != want {
				t.Errorf("in %d columns:\n%swant\n%s", columns, got, want)
			}
		})
	}
}

// The pieces of any table are as wide as they may be, and a wide one is laid out once, and not again for
// each column that it is too wide by.
func TestTableInPiecesIsLaidOutOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	table := func(rows, columns int) (out [][]string) {
		for range rows {
			row := make([]string, columns)
			for i := range row {
				row[i] = strings.Repeat("損a", rng.IntN(5)) + strings.Repeat("-", 1+rng.IntN(3)) + strings.Repeat(" ", rng.IntN(2))
			}
			out = append(out, row)
		}
		return out
	}
	for range 100 {
		rows, columns := table(1+rng.IntN(4), 1+rng.IntN(7)), rng.IntN(60)
		if got, want := tableText(rows, columns), shrunk(rows, columns); got != want {
			t.Fatalf("in %d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
	rows := table(50, 60)
	if n := testing.AllocsPerRun(1, func() { tableText(rows, 40) }); n > 50*60*10 {
		t.Errorf("%v allocations for %d cells", n, 50*60)
	}
}

// shrunk takes columns away until what is left has room.
func shrunk(rows [][]string, columns int) string {
	first := func(n int) string {
		return tableText(lists.Map(rows, func(row []string) []string { return row[:n] }), 0)
	}
	n := len(rows[0])
	wide := func(line string) bool { return widthOf(line) > columns }
	for columns > 0 && n > 2 && slices.ContainsFunc(strings.Split(first(n), "\n"), wide) {
		n--
	}
	if n == len(rows[0]) {
		return first(n)
	}
	rest := lists.Map(rows, func(row []string) []string { return slices.Concat(row[:1], row[n:]) })
	return first(n) + "\n" + shrunk(rest, columns)
}

// What is printed stands above the pane, which is drawn anew in its place: also when its
// lines have come to stand on several since the terminal became narrower.
func TestPane(t *testing.T) { synctest.Test(t, testPane) } // at the times of a clock of its own

func testPane(t *testing.T) {
	var out strings.Builder
	columns := 20
	p := pane{w: &out, size: func() (int, int) { return columns, 5 }}
	said := func(want string) {
		t.Helper()
		if got := out.String(); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
		out.Reset()
	}
	text := func(int) string { return "a line of 21 columns\nsecond\n" }
	show := func(now bool) {
		t.Helper()
		if err := p.show(now, text); err != nil {
			t.Fatal(err)
		}
	}
	show(false)
	said("a line of 21 column\nsecond")
	show(false) // nothing has changed, and no time has passed
	said("")
	time.Sleep(paneRest)
	if err := p.draw("above\n"); err != nil {
		t.Fatal(err)
	}
	said("\r\x1b[1A\x1b[Jabove\na line of 21 column\nsecond")
	if err := p.draw("more\n"); err != nil { // much to print: the pane waits
		t.Fatal(err)
	}
	said("\r\x1b[1A\x1b[Jmore\n")
	show(false)
	said("a line of 21 column\nsecond")
	columns = 8
	show(false)
	said("\r\x1b[3A\x1b[Ja line \nsecond")
	time.Sleep(panePause)
	show(false)
	said("\r\x1b[1A\x1b[Ja line \nsecond")
	if got := p.wiped(); got != "\r\x1b[1A\x1b[J" || p.wiped() != "" {
		t.Errorf("wiped by %q", got)
	}
}

// Run and status --watch show the same of a study under way.
func TestLiveText(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	l := byHand(t, t.TempDir())
	for _, args := range [][]string{{"ask", string(l)}, {"tell", string(l), "2", "0.25"}, {"ask", string(l)}} {
		if code := execute(args, silence()); code != 0 {
			t.Fatalf("%v: exit code %d", args, code)
		}
	}
	st, err := study.Load(string(l))
	if err != nil {
		t.Fatal(err)
	}
	for columns, bar := range map[int]int{0: 40, 10: 20, 80: 40, 120: 60, 200: 80} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			got := liveText(st, l, false, columns)
			for _, want := range []string{
				"progress   " + strings.Repeat("#", bar*2/5) + strings.Repeat(".", bar-bar*2/5) + " 40 % of 5 trials\n",
				"course     #_ from 0.5 to 0.25\n", "trials     2 finished: 2 succeeded, ", "best       loss = 0.25, trial 2\n",
			} {
				if !strings.Contains(got, want) {
					t.Errorf("in %d columns:\n%swant %s", columns, got, want)
				}
			}
		})
	}
	// Of the trials that run those are counted that have no room.
	busy := *st
	for n := range 11 {
		st := &busy
		record := func(e study.Event) {
			if err := st.Apply(study.Record{At: st.Updated, Event: e}); err != nil {
				t.Fatal(err)
			}
		}
		record(study.Proposed{Trial: 4 + n, Told: 2, Origin: "model", Values: st.Space.Decode(st.Space.Center())})
		record(study.Started{Trial: 4 + n, Attempt: 1})
	}
	if got := liveText(&busy, l, true, 80); !strings.HasSuffix(got, " 4 more\n") { // with the one by hand
		t.Errorf("of 12 that run:\n%s", got)
	}
	// Of a budget of time and one of trials, what is nearer to its end.
	st.Config.Budget.Time, st.Elapsed = study.Duration(time.Hour), 45*time.Minute
	if got := liveText(st, l, false, 80); !strings.HasPrefix(got, "progress   "+strings.Repeat("#", 30)+strings.Repeat(".", 10)+" 75 % of 1h00m\n") {
		t.Errorf("three quarters of the time are spent:\n%s", got)
	}
	st.Config.Budget = study.Budget{}
	if got := liveText(st, l, false, 80); strings.Contains(got, "progress") {
		t.Errorf("without a budget:\n%s", got)
	}
}

// What a study still does when its time is up is said at its start, unless it is ended then.
func TestBeyondTime(t *testing.T) {
	hour := study.Duration(time.Hour)
	for want, c := range map[string]study.Config{
		"": {Budget: study.Budget{Time: hour}, Run: study.Run{Repeats: 1}},
		"when its time, 1h0m0s, is up, each of the 3 best trials runs 2 times more; time_hard would end that": {
			Budget: study.Budget{Time: hour}, Run: study.Run{Repeats: 1, Confirm: 2}},
		"when its time, 1h0m0s, is up, each trial that has begun makes all of its 10 repeats, and each of the 3 best trials runs 1 time more; time_hard would end that": {
			Budget: study.Budget{Time: hour}, Run: study.Run{Repeats: 10, Confirm: 1}},
	} {
		t.Run(want, func(t *testing.T) {
			if got := beyondTime(&c); got != want {
				t.Errorf("found %q, want %q", got, want)
			}
			if c.Budget.TimeHard = 2 * hour; beyondTime(&c) != "" {
				t.Errorf("with a hard limit: %q", beyondTime(&c))
			}
		})
	}
}
