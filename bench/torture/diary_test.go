//go:build linux

package torture_test

import (
	"fmt"
	"strings"
	"testing"
)

// A stretch is the time that an attempt took, by its own account.
type stretch struct {
	attempt    string
	start, end int64 // end is 0 for one that was killed
}

// diary returns what the attempts of each trial have noted, and what of it shows
// that a trial had two attempts at a time.
func diary(text string) (trials map[int][]stretch, overlaps []string) {
	trials = map[int][]stretch{}
	for line := range strings.Lines(text) {
		var what, attempt string
		var trial int
		var at int64
		if _, err := fmt.Sscanf(line, "%s %d %s %d\n", &what, &trial, &attempt, &at); err != nil {
			return nil, []string{fmt.Sprintf("%q: %v", line, err)}
		}
		notes := trials[trial]
		last := len(notes) - 1
		switch {
		case what == "start" && (last < 0 || notes[last].attempt != attempt && notes[last].end < at):
			trials[trial] = append(notes, stretch{attempt: attempt, start: at})
		case what == "end" && last >= 0 && notes[last].attempt == attempt && notes[last].end == 0:
			notes[last].end = at
		default:
			overlaps = append(overlaps, strings.TrimSpace(line))
		}
	}
	return trials, overlaps
}

func TestDiary(t *testing.T) {
	for text, bad := range map[string]int{
		"start 1 a 10\nend 1 a 20\nstart 1 b 30\n":               0,
		"start 1 a 10\nstart 2 a 15\nstart 1 b 30\nend 1 b 40\n": 0, // a of 1 was killed
		"start 1 a 10\nstart 1 b 30\nend 1 a 40\nend 1 b 50\n":   1,
		"start 1 a 10\nend 1 a 40\nstart 1 b 30\n":               1,
		"start 1 a 10\noverlap 1 b 20\nend 1 a 30\n":             1,
		"start 1 a 10\nstart 1 a 20\n":                           1,
		"end 1 a 20\n":                                           1,
	} {
		t.Run(text, func(t *testing.T) {
			if _, overlaps := diary(text); len(overlaps) != bad {
				t.Errorf("%q: overlaps %q; want %d", text, overlaps, bad)
			}
		})
	}
}
