package journal_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/faultfs"
	"github.com/lbotune/lbotune/internal/testing/tempdir"
)

// helperVar makes the test binary play another process: see helper.
const helperVar = "LBOTUNE_JOURNAL_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperVar) != "" {
		helper(os.Args[1], os.Args[2])
		return
	}
	os.Exit(tempdir.InMemory(m.Run))
}

// helper does what the test asks of another process, says what came of it in one
// line, and stays until its standard input ends.
func helper(what, path string) {
	switch what {
	case "open":
		_, _, err := journal.Open(path, ignore)
		fmt.Println(err)
	case "bequeath": // the lock, to a child that lives for a second
		_, _, err := journal.Open(path, ignore)
		fmt.Println(errors.Join(err, bequeath(path)))
	case "limit": // append until the file-size limit is reached
		fmt.Println(appendToLimit(path))
	case "append": // for ever, two records at a time
		fmt.Println(appendForEver(path))
	case "idle":
		fmt.Println("idle")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// bequeath starts a child that holds the lock of the journal at path as this process does.
func bequeath(path string) error {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, fd := range fds {
		if target, _ := os.Readlink("/proc/self/fd/" + fd.Name()); target == journal.LockPath(path) {
			number, err := strconv.Atoi(fd.Name())
			if err != nil {
				return err
			}
			cmd := exec.Command("sleep", "1")
			cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(number), target)}
			return cmd.Start()
		}
	}
	return errors.New("the lock file is not open")
}

// startHelper starts the test binary as helper, and returns the line that it said.
func startHelper(t *testing.T, what, path string) (said string, stop func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], what, path)
	cmd.Env = append(os.Environ(), helperVar+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	check(t, err)
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	said, err = bufio.NewReader(stdout).ReadString('\n')
	check(t, err)
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = stdin.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(stop)
	return strings.TrimSuffix(said, "\n"), stop
}

type header struct {
	Study string `json:"study"`
	Seed  int    `json:"seed"`
}

type event struct {
	Event  string         `json:"event"`
	Trial  int            `json:"trial"`
	Value  journal.Float  `json:"value"`
	Params map[string]any `json:"params,omitempty"`
	Tail   string         `json:"tail,omitempty"`
}

// sample returns the i-th event of a study.
func sample(study string, i int) event {
	switch i % 3 {
	case 0:
		return event{Event: "proposed", Trial: i / 3, Params: map[string]any{"lr": 1 / float64(i+3), "model": study}}
	case 1:
		return event{Event: "started", Trial: i / 3}
	default:
		return event{Event: "finished", Trial: i / 3, Value: journal.Float(float64(i) / 7), Tail: "loss=" + strings.Repeat("9", i%5) + "\n"}
	}
}

// build returns the bytes of a journal with n records, the first line included.
func build(t testing.TB, study string, n int) []byte {
	t.Helper()
	fsys := faultfs.New()
	j, err := journal.Create("/journal.jsonl", header{study, 1}, fsys)
	check(t, err)
	for i := range n - 1 {
		err := j.Append(sample(study, i))
		check(t, err)
	}
	check(t, j.Close())
	return fsys.Content("/journal.jsonl")
}

// read returns the lines that Read visits in content, laid at /journal.jsonl.
func read(content []byte) ([]string, journal.Summary, error) {
	fsys := faultfs.New()
	fsys.Put("/journal.jsonl", content)
	var c collector
	sum, err := journal.Read("/journal.jsonl", c.visit, fsys)
	return c.lines, sum, err
}

type collector struct{ lines []string }

func (c *collector) visit(r journal.Record) error {
	c.lines = append(c.lines, string(r.Raw))
	if int(r.Seq) != len(c.lines) {
		return fmt.Errorf("record %d came as number %d", r.Seq, len(c.lines))
	}
	return nil
}

func ignore(journal.Record) error { return nil }

func splitLines(content []byte) []string {
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

func decode(t testing.TB, raw string, into any) {
	t.Helper()
	check(t, json.Unmarshal([]byte(raw), into))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// is returns err as a T, or fails the test.
func is[T error](t testing.TB, err error) T {
	t.Helper()
	var want T
	if !errors.As(err, &want) {
		t.Fatalf("error is %v (%T), want a %T", err, err, want)
	}
	return want
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "journal.jsonl") }
