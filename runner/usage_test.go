package runner

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestParseTimes(t *testing.T) {
	for line, want := range map[string]int64{
		"0m0.000000s 0m0.010000s\n": 10_000,
		"0m1.250s 0m0.125s\n":       1_375_000,
		"2m0,500s 1m0,000s\n":       180_500_000, // a locale with a comma
	} {
		t.Run(line, func(t *testing.T) {
			if got, ok := parseTimes([]byte(line)); !ok || got != want {
				t.Errorf("%q: %d, %v; want %d", line, got, ok, want)
			}
		})
	}
	for _, line := range []string{"", "0m1s\n", "{\"exit\":0}\n", "0m1.5s 0m1.5s"} {
		t.Run(line, func(t *testing.T) {
			if got, ok := parseTimes([]byte(line)); ok {
				t.Errorf("%q: %d", line, got)
			}
		})
	}
}

// busy burns processor time in a child and in a child of that, and holds memory in one.
const busy = `burn() { i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; }
burn & burn; wait; sh -c 'x=$(head -c 20000000 /dev/zero | tr "\0" x); : "$x"'`

// TestUsage: what an attempt has used is known when it ends, and by its record to whoever
// comes later, whether its orchestrator saw the end or not.
func TestUsage(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		l := &Local{}
		if !grouped {
			l.grouped.Do(func() {})
		}
		job := Job{Dir: filepath.Join(t.TempDir(), "a1"), ID: "runner" + t.Name(), Timeout: time.Minute, Shell: busy}
		exit, err := l.Launch(context.Background(), job)
		if err != nil || exit.Code != 0 {
			t.Fatalf("%+v, %v", exit, err)
		}
		if exit.CPU < 20*time.Millisecond || exit.CPU > time.Minute {
			t.Errorf("grouped %v: CPU %v", grouped, exit.CPU)
		}
		if exit.PeakMemory < 20_000_000 || exit.PeakMemory > 2_000_000_000 {
			t.Errorf("grouped %v: peak %d", grouped, exit.PeakMemory)
		}
		later, err := new(Local).Attach(context.Background(), job)
		if err != nil || later.CPU != exit.CPU || later.PeakMemory != exit.PeakMemory {
			t.Errorf("grouped %v: later %v and %d, %v; want %v and %d", grouped, later.CPU, later.PeakMemory, err, exit.CPU, exit.PeakMemory)
		}
		forget(t, filepath.Join(job.Dir, recordName))
		alone, err := new(Local).Attach(context.Background(), job)
		if err != nil || alone.CPU < 20*time.Millisecond || alone.CPU > exit.CPU+20*time.Millisecond {
			t.Errorf("grouped %v: without an orchestrator %v, %v; with one %v", grouped, alone.CPU, err, exit.CPU)
		}
	}
}

// forget takes from a record what the orchestrator has appended at the end.
func forget(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := bytes.Cut(text, []byte(`{"exit":0`))
	status, later, whole := bytes.Cut(after, []byte("\n"))
	if !found || !whole || len(later) == 0 {
		t.Fatalf("%s%s", text, status)
	}
	if err := os.Truncate(path, int64(len(text)-len(later))); err != nil {
		t.Fatal(err)
	}
}
