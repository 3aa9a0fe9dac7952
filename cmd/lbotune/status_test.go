package main

import (
	"bytes"
	"testing"

	"github.com/lbotune/lbotune/internal/layout"
	"github.com/lbotune/lbotune/study"
)

// A study that was read while it ran, and has ended since, was not stopped.
func TestStatusOfAStudyThatEndsMeanwhile(t *testing.T) {
	for _, c := range []struct {
		before bool
		closed *study.Closed
		want   string
	}{
		{true, nil, "running"},
		{false, nil, "stopped; run or resume continues from here"},
		{true, &study.Closed{Detail: "all 4 trials are finished"}, "ended: all 4 trials are finished"},
	} {
		t.Run(c.want, func(t *testing.T) {
			var out bytes.Buffer
			g := &global{streams: streams{out: &out, err: &bytes.Buffer{}}}
			src, err := sourceOf(&study.State{Closed: c.closed}, layout.Of(t.TempDir()), c.before)
			if err == nil {
				err = printStatus(g, src.State, layout.Study(src.Dir), src.Running)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(out.Bytes(), []byte("\nstate      "+c.want+"\n")) {
				t.Errorf("before %v: %s; want %s", c.before, out.Bytes(), c.want)
			}
		})
	}
}
