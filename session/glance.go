package session

import (
	"context"
	"io"
	"math"
	"os"

	"github.com/lbotune/lbotune/parser"
	"github.com/lbotune/lbotune/runner"
	"github.com/lbotune/lbotune/study"
)

const (
	// glanceWhole is how large an output may be to be read whole for a glance at it, and
	// glanceEnd how much is read of the end of a larger one.
	glanceWhole = 8 << 20
	glanceEnd   = 1 << 20
)

// Glance reads what an attempt that may be running has reported last: the last value of
// each metric, and the last step, which is NaN if none was printed. There are no metrics
// if there is none yet.
func Glance(st *study.State, l study.Layout, id study.AttemptID) (step float64, metrics study.Metrics, err error) {
	t, err := st.Trial(id.Trial)
	if err != nil {
		return 0, nil, err
	}
	s := &Study{state: st, layout: l}
	for _, m := range st.Config.Metrics {
		p, err := parser.Compile(m.Rule)
		if m.Measure != "" || err != nil {
			p = &parser.Pattern{}
		}
		s.patterns = append(s.patterns, p)
	}
	a := &attempt{study: s, config: st.Config, id: id, trial: *t}
	collector := parser.NewCollector(s.patterns...)
	step, metrics = math.NaN(), study.Metrics{}
	emit := func(r parser.Reading) {
		metrics[st.Config.Metrics[r.Metric].Name] = r.Value
		if r.HasStep {
			step = r.Step
		}
	}
	for _, stream := range a.streams() {
		// The scanner is not closed: the last line may be half written.
		scanner := collector.Scanner(stream.source, emit, stream.metrics...)
		if err := readForGlance(scanner, stream); err != nil && !os.IsNotExist(err) {
			return step, metrics, err
		}
	}
	return step, metrics, nil
}

func readForGlance(w io.Writer, s stream) error {
	now, err := traceOf(s.path)
	if err != nil || !now.There {
		return err
	}
	if now.Size <= glanceWhole {
		return runner.Read(context.Background(), s.open, w, math.MaxInt64)
	}
	text, err := runner.ReadTail(s.open, glanceEnd)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}
