package runner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// recordVersion is the version of the format of attempt.jsonl.
const recordVersion = 1

// entry is one line of attempt.jsonl. The file begins with the header, which is written
// before anything runs (again, if the start is tried again); the supervisor appends pid,
// and exit or fork, and before exit what was used; an orchestrator that ends the attempt,
// or what it has left behind, appends stop or counted before it sends the first signal,
// and one that has seen the end appends what was used in all. Each line is one short
// write into the block that the header has allocated, so that a full disk does not
// keep the exit status from being written; a line counts when its newline is there.
type entry struct {
	Version int        `json:"attempt,omitempty"`
	ID      string     `json:"id,omitempty"`
	Key     string     `json:"key,omitempty"`     // what it is an attempt at: Job.Key
	Nonce   string     `json:"nonce,omitempty"`   // part of the marker in the environment
	Device  uint64     `json:"device,omitempty"`  // of this file, which a copy of it does not have
	Inode   uint64     `json:"inode,omitempty"`   // likewise
	Host    string     `json:"host,omitempty"`    // host name and machine id
	Boot    string     `json:"boot,omitempty"`    // this boot of its kernel
	PIDs    string     `json:"pids,omitempty"`    // the name space of process ids
	Started *time.Time `json:"started,omitempty"` // wall clock
	Uptime  int64      `json:"uptime,omitempty"`  // the same in nanoseconds since boot
	Cgroup  string     `json:"cgroup,omitempty"`  // directory of its control group

	PID    int    `json:"pid,omitempty"`    // the supervisor
	Stop   string `json:"stop,omitempty"`   // why an orchestrator ended it: a stopReason
	Exit   *int   `json:"exit,omitempty"`   // status of the command
	Up     string `json:"up,omitempty"`     // with Exit: the machine's uptime in seconds when the command ended
	Killed bool   `json:"killed,omitempty"` // SIGKILL was needed
	Fork   *int   `json:"fork,omitempty"`   // the supervisor could not make a process for it
	Full   bool   `json:"full,omitempty"`   // the disk was full when the command ended

	Printed *Lengths   `json:"printed,omitempty"` // with Exit: of the outputs at that time
	Synced  bool       `json:"synced,omitempty"`  // with Exit: what the command has written is on disk
	Counted *Lengths   `json:"counted,omitempty"` // of the outputs when leftovers were asked to end
	Ended   *time.Time `json:"ended,omitempty"`   // with Counted or usage: when the command had ended

	usage // until the command ended, or until nothing was left
}

// upNow is the Up of what ends now.
func upNow() string { return strconv.FormatFloat(uptime().Seconds(), 'f', 2, 64) }

// record is what attempt.jsonl says, all lines together.
type record struct {
	entry              // fields of the first line that has them, since the last start
	disputed bool      // lines tell of different ends: one of them is not the supervisor's
	times    int64     // what times said last, in microseconds
	lastSeen time.Time // Ended, or when the file was changed last: the end, if Exit is set
}

// readRecord reads the lines of attempt.jsonl from an offset on. Those that it does not
// understand count as absent: a user's program may have scribbled into the file.
func readRecord(fd int, offset int64) (rec record, err error) {
	var st unix.Stat_t
	var n int
	var buf []byte
	switch err = unix.Fstat(fd, &st); {
	case err != nil:
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		err = fmt.Errorf("%s is not a regular file", recordName)
	default:
		rec.lastSeen = time.Unix(st.Mtim.Unix())
		buf = make([]byte, max(0, min(st.Size-offset, 64<<10)))
		n, err = unix.Pread(fd, buf, offset)
	}
	if err != nil {
		return rec, fmt.Errorf("read %s: %w", recordName, err)
	}
	for line := range bytes.Lines(buf[:n]) {
		var e entry
		if times, ok := parseTimes(line); ok {
			rec.times = times
		} else if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &e) == nil {
			rec.merge(e)
		}
	}
	return rec, nil
}

func (r *record) merge(e entry) {
	switch {
	case e.Version != 0: // a start, perhaps a second one after the first could not execute
		r.entry, r.disputed, r.times = e, false, 0
	case e.PID != 0 && r.PID == 0:
		r.PID = e.PID
	case e.Stop != "" && r.Stop == "":
		r.Stop = e.Stop
	case e.Exit != nil && r.Exit == nil:
		r.Exit, r.Up, r.Killed, r.Printed, r.Synced = e.Exit, e.Up, e.Killed, e.Printed, e.Synced
	case e.Exit != nil && r.Stop == "": // else it is known why it failed
		r.disputed = r.disputed || *e.Exit != *r.Exit
	case e.Fork != nil && r.Fork == nil:
		r.Fork = e.Fork
	case e.Full:
		r.Full = true
	case e.Counted != nil && r.Counted == nil:
		r.Counted = e.Counted
		r.end(e)
	case e.usage != usage{}:
		r.usage = e.usage.or(r.usage)
		r.end(e)
	}
}

// end takes over when the command had ended, if an entry says so.
func (r *record) end(e entry) {
	if e.Ended != nil {
		r.Ended, r.lastSeen = e.Ended, *e.Ended
	}
}

// appendEntry appends one line in one write.
func appendEntry(fd int, e entry) error {
	line, _ := json.Marshal(e) // plain fields: cannot fail
	line = append(line, '\n')
	n, err := unix.Write(fd, line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	return err
}

type place struct{ host, boot, pids string }

func (a *attempt) head() error {
	self, err := identify(a.record)
	if err != nil {
		return err
	}
	here := thisPlace()
	a.started, a.uptime = time.Now(), uptime()
	err = appendEntry(a.record, entry{Version: recordVersion, ID: a.job.ID, Key: a.job.Key, Nonce: a.nonce,
		Device: self.device, Inode: self.inode, Host: here.host, Boot: here.boot, PIDs: here.pids,
		Started: &a.started, Uptime: int64(a.uptime), Cgroup: string(a.cgroup)})
	a.headed, _ = unix.Seek(a.record, 0, unix.SEEK_CUR)
	return err
}

var thisPlace = sync.OnceValue(whereAmI)

func whereAmI() place {
	host, _ := os.Hostname() // empty when unknown: compares equal to itself only
	if id, err := os.ReadFile("/etc/machine-id"); err == nil {
		host += "/" + strings.TrimSpace(string(id))
	}
	return place{host: host, boot: bootID(), pids: pidNamespace()}
}

// usage is what an attempt has used of the machine; 0 is unknown.
type usage struct {
	CPU  int64 `json:"cpu,omitempty"`  // processor time in microseconds
	Peak int64 `json:"peak,omitempty"` // bytes of memory
}

// or takes from other what u does not know.
func (u usage) or(other usage) usage {
	return usage{cmp.Or(u.CPU, other.CPU), cmp.Or(u.Peak, other.Peak)}
}

// usage is what is known at the end: best from the control group, which forgets nobody, else from what
// was written down, else from the kernel's account of the supervisor and of those waited for.
func (a *attempt) usage(rec record, supervisor usage) usage {
	return a.cgroup.usage().or(rec.usage).or(supervisor).or(usage{CPU: rec.times})
}

// usageOf reads the kernel's account of a process that was reaped.
func usageOf(ru *unix.Rusage) usage {
	return usage{
		CPU:  (unix.TimevalToNsec(ru.Utime) + unix.TimevalToNsec(ru.Stime)) / int64(time.Microsecond),
		Peak: int64(ru.Maxrss) * maxrssUnit,
	}
}

// parseTimes gives the sum in microseconds on a line of the shell's times, such as "0m0.01s 0m0.02s": user
// and system time, of itself or of its children.
func parseTimes(line []byte) (sum int64, ok bool) {
	fields := strings.Fields(strings.ReplaceAll(string(line), ",", "."))
	for _, f := range fields {
		d, err := time.ParseDuration(f)
		if err != nil {
			return 0, false
		}
		sum += d.Microseconds()
	}
	return sum, len(fields) == 2 && bytes.HasSuffix(line, []byte("\n"))
}

// usage reads the accounts of a control group; the peak needs the memory controller.
func (c cgroup) usage() (u usage) {
	if c == "" {
		return u
	}
	peak, _ := os.ReadFile(string(c) + "/memory.peak")
	_, _ = fmt.Sscan(string(peak), &u.Peak)
	stat, _ := os.ReadFile(string(c) + "/cpu.stat")
	_, _ = fmt.Sscanf(string(stat), "usage_usec %d", &u.CPU) // which is its first line
	return u
}
