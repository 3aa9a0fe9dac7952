package docs_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the outputs that the pages show")

// own are the parts of a shown line that stay as they are, because they differ
// from machine to machine: dates and durations.
var own = regexp.MustCompile(` *(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\d[\d.]*(?:ms|[smh]\b)(?:\d+[smh]\b)?)`)

var trialLine = regexp.MustCompile(`^ *\d+/\d+ `)

// updated is an output block with the lines that its commands have printed.
func updated(shown, printed string) string {
	var out strings.Builder
	for line := range strings.Lines(shown) {
		line = strings.TrimSuffix(line, "\n")
		start, cut := strings.CutSuffix(line, "...")
		if strings.TrimSpace(start) != "" {
			if found := likeliest(start, cut, printed); found != "" {
				line = withOwn(found, start)
				if cut {
					gap := start[len(strings.TrimRight(start, " ")):]
					line = firstFields(line, start) + gap + "..."
				}
			}
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// likeliest is the printed line of a shown line's shape that begins most like it.
func likeliest(start string, cut bool, printed string) string {
	best, longest := "", -1
	for line := range strings.Lines(printed) {
		line = strings.TrimRight(line, "\n ")
		if !fits(shape(line), shape(start), cut) {
			continue
		}
		a, b := blanks.ReplaceAllString(line, " "), blanks.ReplaceAllString(start, " ")
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		if n > longest {
			best, longest = line, n
		}
	}
	return best
}

// withOwn puts the dates and durations of a shown line into a printed one.
func withOwn(printed, shown string) string {
	have, keep := own.FindAllString(printed, -1), own.FindAllString(shown, -1)
	if len(have) != len(keep) {
		return printed
	}
	i := 0
	return own.ReplaceAllStringFunc(printed, func(s string) string {
		text := strings.TrimLeft(keep[i], " ")
		i++
		gap := len(s) - len(strings.TrimLeft(s, " "))
		if trialLine.MatchString(printed) { // flush right
			gap = max(len(s)-len(text), min(1, gap))
		}
		return strings.Repeat(" ", gap) + text
	})
}

// firstFields cuts a printed line where the shown one is cut.
func firstFields(printed, shown string) string {
	n := len(strings.Fields(shown))
	ends := regexp.MustCompile(`\S+`).FindAllStringIndex(printed, n)
	if len(ends) < n {
		return printed
	}
	last := strings.Fields(shown)[n-1]
	end := ends[n-1][1]
	if at := strings.Index(printed[ends[n-1][0]:end], last); at == 0 {
		end = ends[n-1][0] + len(last)
	}
	return printed[:end]
}

// rewrite puts new texts into the blocks of a page.
func rewrite(t *testing.T, page string, texts map[int]string) {
	t.Helper()
	src, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(src), "\n")
	var out strings.Builder
	for i := 0; i < len(lines); i++ {
		out.WriteString(lines[i])
		if text, ok := texts[i+1]; ok {
			out.WriteString(text)
			i += strings.Count(text, "\n")
		}
	}
	if err := os.WriteFile(page, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestUpdated(t *testing.T) {
	shown := "study /home/you/s.study\n 2/25   0.3 best  140ms  lr=0.1\n...\nlast record 2026-01-31 12:00:00\ntime       1.2s in 1 session\nall intact, 3 records...\nlbotune ...\n"
	printed := "study /home/you/s.study\n 1/25   0.7 best    8ms  lr=0.5\n 2/25  0.25       9ms  lr=0.25\nlast record 2026-11-12 09:00:00\ntime       812ms in 1 session\nall intact, 7 records; good\nlbotune v1 (journal)\n"
	want := "study /home/you/s.study\n 2/25  0.25     140ms  lr=0.25\n...\nlast record 2026-01-31 12:00:00\ntime       1.2s in 1 session\nall intact, 7 records...\nlbotune ...\n"
	if got := updated(shown, printed); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
