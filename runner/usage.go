package runner

import (
	"cmp"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// usage is what an attempt has used of the machine; 0 is unknown.
type usage struct {
	CPU  int64 `json:"cpu,omitempty"`  // processor time in microseconds
	Peak int64 `json:"peak,omitempty"` // bytes of memory
}

// or takes from other what u does not know.
func (u usage) or(other usage) usage {
	return usage{cmp.Or(u.CPU, other.CPU), cmp.Or(u.Peak, other.Peak)}
}

// usage is what is known when the attempt has ended: best from its control group, which
// forgets nobody, else from what was written down, else from what the kernel says of the
// supervisor and of all below it that were waited for.
func (a *attempt) usage(rec record, supervisor usage) usage {
	return a.cgroup.usage().or(rec.usage).or(supervisor).or(usage{CPU: rec.times})
}

// noteUsage writes it down for those who find the attempt later.
func (a *attempt) noteUsage(u usage, ended time.Time) {
	if u != (usage{}) {
		_ = appendEntry(a.record, entry{usage: u, Ended: &ended})
	}
}

func (e *Exit) setUsage(u usage) {
	e.CPU, e.PeakMemory = time.Duration(u.CPU)*time.Microsecond, u.Peak
}

// usageOf reads the kernel's account of a process that was reaped.
func usageOf(ru *unix.Rusage) usage {
	return usage{
		CPU:  (unix.TimevalToNsec(ru.Utime) + unix.TimevalToNsec(ru.Stime)) / int64(time.Microsecond),
		Peak: int64(ru.Maxrss) * maxrssUnit,
	}
}

// timesLine is a line of what the shell's builtin times prints: the user and the system
// time of the shell, and on a second line those of its children.
var timesLine = regexp.MustCompile(`^(\d+)m(\d+(?:[.,]\d+)?)s (\d+)m(\d+(?:[.,]\d+)?)s\n$`)

// parseTimes gives the sum on such a line in microseconds.
func parseTimes(line []byte) (sum int64, ok bool) {
	groups := timesLine.FindSubmatch(line)
	if groups == nil {
		return 0, false
	}
	for i := 1; i < len(groups); i += 2 {
		minutes, _ := strconv.ParseFloat(string(groups[i]), 64)
		seconds, _ := strconv.ParseFloat(strings.Replace(string(groups[i+1]), ",", ".", 1), 64)
		sum += int64((60*minutes + seconds) * 1e6)
	}
	return sum, true
}

// usage reads the accounts of a control group. Its peak of memory is there only where the
// memory controller is.
func (c cgroup) usage() (u usage) {
	if c == "" {
		return u
	}
	peak, _ := os.ReadFile(string(c) + "/memory.peak")
	u.Peak, _ = strconv.ParseInt(strings.TrimSpace(string(peak)), 10, 64)
	stat, _ := os.ReadFile(string(c) + "/cpu.stat")
	for line := range strings.Lines(string(stat)) {
		if used, ok := strings.CutPrefix(line, "usage_usec "); ok {
			u.CPU, _ = strconv.ParseInt(strings.TrimSpace(used), 10, 64)
		}
	}
	return u
}
