//go:build linux

package torture_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// play is a trial program: the test's own binary in another role.
func play(role string, args []string) int {
	roles := map[string]func([]string) error{
		"work":  work,
		"flood": flood,
		"count": count,
		"noise": noise,
		"args":  writeArgs,
	}
	if err := roles[role](args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// work logs the start and the end of an attempt and prints a loss. Arguments: a
// directory for the log, x, and the longest that the work may take, in milliseconds.
func work(args []string) error {
	x, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return err
	}
	most, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	trial := os.Getenv("LBOTUNE_TRIAL")
	n, err := strconv.ParseUint(trial, 10, 64)
	if err != nil {
		return err
	}
	diary, err := os.OpenFile(args[0]+"/diary", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	note := func(what string) error {
		_, err := fmt.Fprintf(diary, "%s %s %s %d\n", what, trial, os.Getenv("LBOTUNE_ATTEMPT"), now())
		return err
	}
	// The kernel knows better than any log whether two attempts overlap.
	room, err := os.OpenFile(args[0]+"/room-"+trial, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(room.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return note("overlap")
	}
	if err := note("start"); err != nil {
		return err
	}
	pace := rand.New(rand.NewPCG(n, 1))
	time.Sleep(time.Duration(pace.IntN(most*1000)) * time.Microsecond)
	fmt.Printf("loss=%v\n", (x-0.3)*(x-0.3))
	return note("end")
}

// now is the time since boot in nanoseconds, the same for all processes.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

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
