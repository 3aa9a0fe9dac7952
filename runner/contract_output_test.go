package runner_test

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/runner"
)

// testFlood: an output of any length costs bounded disk space and bounded memory, and its
// beginning and end are kept.
func testFlood(t *testing.T, newLauncher func(*testing.T) runner.Launcher) {
	l := newLauncher(t)
	job := shellJob(t, "echo loss=1; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo loss=2")
	job.MaxLog = 1 << 20
	path := filepath.Join(job.Dir, runner.StdoutName)
	started, ended := make(chan struct{}), make(chan struct{})
	job.Started = func(int) { close(started) }

	done := start(t, context.Background(), l, job)
	select {
	case <-started:
	case r := <-done:
		t.Fatalf("it did not begin: %+v, %v", r.exit, r.err)
	}
	var heard counter
	tailed := make(chan error, 1)
	go func() { tailed <- runner.Tail(context.Background(), runner.At(path), math.MaxInt64, &heard, ended) }()
	exit := await(t, done)
	close(ended)
	if err := <-tailed; err != nil {
		t.Error(err)
	}
	if exit.Code != 0 || !exit.Truncated && !exit.Flooded {
		t.Errorf("%+v", exit)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	if used := int64(st.Blocks) * 512; used > 2*job.MaxLog {
		t.Errorf("stdout takes %d bytes of disk, the bound is %d", used, job.MaxLog)
	}
	for _, want := range []string{"loss=1\n", "\nloss=2\n"} {
		if !strings.Contains(heard.ends(), want) {
			t.Errorf("who followed the output did not hear %q", want)
		}
	}
	if heard.nuls.Load() > 0 {
		t.Errorf("who followed the output heard %d NUL bytes of a hole", heard.nuls.Load())
	}
	end, err := runner.ReadTail(runner.At(path), 100)
	if err != nil || !strings.HasSuffix(end, "xxx\nloss=2\n") {
		t.Errorf("the end reads %q, %v", end, err)
	}
}

// counter keeps the ends of what is written to it.
type counter struct {
	first, last []byte
	nuls        atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.nuls.Add(int64(bytes.Count(p, []byte{0})))
	if len(c.first) < 1000 {
		c.first = append(c.first, p[:min(len(p), 1000)]...)
	}
	c.last = append(c.last, p...)
	c.last = c.last[max(0, len(c.last)-1000):]
	return len(p), nil
}

func (c *counter) ends() string { return string(c.first) + string(c.last) }
