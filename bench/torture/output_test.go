//go:build linux

package torture_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Whatever a trial prints, its metric is found or the reason is given, the disk that
// its output takes is bounded, and so is lbotune's memory.
func TestOutputs(t *testing.T) {
	mibs := scaled(24, 1024)
	lines := scaled(200_000, 1_000_000)
	for name, c := range map[string]struct {
		command string
		rule    string // instead of metric = "loss"
		want    float64
		reason  string // why there is no value; or, with one, why there is none unless the reader keeps up
	}{
		"metric after a flood": {as("flood", fmt.Sprintf(`%d "" "
loss=0.25
"`, mibs)), "", 0.25, ""},
		"metric before a flood": {as("flood", fmt.Sprintf(`%d "loss=0.25
" ""`, mibs)), "", 0.25, "too long to keep whole"},
		"metric in a flood":       {as("flood", fmt.Sprintf(`%d "" "loss=0.25"`, mibs)), "", 0, "no metric"},
		"flood without a metric":  {as("flood", fmt.Sprintf(`%d "" ""`, mibs)), "", 0, "no metric"},
		"flood on stderr":         {as("flood", fmt.Sprintf(`%d "" "" >&2; echo loss=0.25`, mibs)), "", 0.25, ""},
		"last of many lines":      {as("count", strconv.Itoa(lines)), "", 0.25, ""},
		"greatest of many lines":  {as("count", "20000"), `pick = "max"`, 1000, ""},
		"binary":                  {as("noise", strconv.Itoa(scaled(4, 64))), "", 0.25, ""},
		"progress bar":            {`for i in 5 4 3 2 1; do printf '\r%d%% loss=0.%d' $i $i; done; printf '\r100%% loss=0.25'`, "", 0.25, ""},
		"colours":                 {`printf '\033[1m\033[32mloss\033[0m: \033]8;;http://x\033\\0.25\033]8;;\033\\\033[0m\n'`, "", 0.25, ""},
		"no line end":             {`printf loss=0.25`, "", 0.25, ""},
		"not a number":            {`echo loss=nan`, "", 0, "nan"},
		"infinite":                {`echo loss=-Infinity`, "", 0, "nfinity"},
		"nothing":                 {`:`, "", 0, "no metric"},
		"decimal comma":           {`echo loss=0,25`, "", 0, "not a number"},
		"a string of null bytes":  {`head -c 100000 /dev/zero; echo; echo loss=0.25`, "", 0.25, ""},
		"a very long name before": {`head -c 3000000 /dev/zero | tr '\0' a; echo; echo loss=0.25`, "", 0.25, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", c.command+"; : {x}", 1, 1, `max_log = "1MiB"`)
			if c.rule != "" {
				l.write("spec.toml", strings.Replace(l.read("spec.toml"), `metric = "loss"`, `metric = "loss"`+"\n"+c.rule, 1))
			}
			r := l.start("run", "spec.toml")
			memory := r.watchMemory()
			res := r.end()
			trial := l.load().Trials[0]
			if c.reason != "" && (c.want == 0 || trial.Failure != nil) {
				res.must(l, 5)
				if trial.Failure == nil || !strings.Contains(trial.Failure.Text, c.reason) {
					t.Errorf("the reason is %+v; want %q", trial.Failure, c.reason)
				}
			} else if res.must(l, 0); trial.Value != c.want {
				t.Errorf("value %v; want %v", trial.Value, c.want)
			}
			if used := l.diskUsage("spec.study/trials"); used > 3<<20 {
				t.Errorf("the trial's directory takes %d KiB", used>>10)
			}
			checkPrintable(t, res)
			if peak := <-memory; peak > 60<<10 && !raced {
				t.Errorf("lbotune took %d KiB", peak)
			}
		})
	}
}

// A reading that was lost with the middle of a long output is never passed over: the
// value is the right one, or there is none.
func TestLostReadings(t *testing.T) {
	slow(t)
	for _, c := range []struct {
		pick string
		want float64
	}{{"max", 1000}, {"min", 0.25}, {"last", 0.25}, {"first", 1}} {
		t.Run(c.pick, func(t *testing.T) {
			l := newLab(t)
			l.spec("spec.toml", as("count", strconv.Itoa(scaled(200_000, 2_000_000)))+"; : {x}", 2, 1, `max_log = "1MiB"`)
			l.write("spec.toml", strings.Replace(l.read("spec.toml"), `metric = "loss"`, `metric = "loss"`+"\npick = "+strconv.Quote(c.pick), 1))
			res := l.start("run", "spec.toml").end()
			if res.code != 0 && res.code != 5 || res.code == 5 && c.pick != "max" && c.pick != "min" {
				t.Errorf("pick %s: exit code %d", c.pick, res.code)
			}
			for _, trial := range l.load().Trials {
				switch {
				case trial.Failure == nil && trial.Value != c.want:
					t.Errorf("pick %s: value %v; want %v", c.pick, trial.Value, c.want)
				case trial.Failure != nil && !strings.Contains(trial.Failure.Text, "too long to keep whole"):
					t.Errorf("pick %s: %+v", c.pick, trial.Failure)
				}
			}
		})
	}
}

// watchMemory follows the memory of a run and sends the most that it took, in KiB,
// when it has ended.
func (r *run) watchMemory() <-chan int {
	most := make(chan int, 1)
	go func() {
		peak := 0
		for {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.Process.Pid))
			_, field, found := strings.Cut(string(text), "VmHWM:")
			if err != nil || !found { // gone, or a zombie
				most <- peak
				return
			}
			_, _ = fmt.Sscan(field, &peak)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return most
}

// diskUsage is what the files below a directory of the lab take on disk.
func (l *lab) diskUsage(dir string) (bytes int64) {
	l.Helper()
	l.check(filepath.WalkDir(l.path(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			bytes += st.Blocks * 512
		}
		return err
	}))
	return bytes
}
