package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/study"
)

// timeline has a bar for each attempt that is known to have run.
func (s *Study) timeline() string {
	end, slots := s.Updated, 0
	for _, t := range s.Trials {
		for _, a := range t.Attempts {
			slots = max(slots, a.Slot+1)
		}
	}
	total := end.Sub(s.Began).Seconds()
	if slots == 0 || !(total > 0) {
		return ""
	}
	unit, name := 1.0, "seconds"
	if total > 7200 {
		unit, name = 3600, "hours"
	} else if total > 180 {
		unit, name = 60, "minutes"
	}
	y := bare
	step := 1
	if slots > 16 {
		step = slots / 8
	}
	for k := 0; k < slots; k += step {
		y.ticks = append(y.ticks, tick{1 - (float64(k)+0.5)/float64(slots), "slot " + strconv.Itoa(k)})
	}
	c := s.chart("Timeline", 900, 50+math.Min(24*float64(slots), 300), axis{hi: total / unit, label: name + " since the study began"}, y)
	c.frame()
	row := (c.py(0) - c.py(1)) / float64(slots)
	at := func(t time.Time) float64 { return c.px(c.x.at(t.Sub(s.Began).Seconds() / unit)) }
	for _, t := range s.shown {
		for i, a := range t.Attempts {
			if a.Started.IsZero() {
				continue
			}
			class, stop := "retried", a.Ended
			if i == len(t.Attempts)-1 {
				class = strings.TrimPrefix(t.class(), "d ")
			}
			if stop.IsZero() {
				stop = end
			}
			top := c.py(1) + float64(a.Slot)*row + 1
			c.trial(t.Number, func() {
				if wait := at(a.Started) - at(a.Queued); wait > 1 {
					c.rect("bar waiting", at(a.Queued), top+row/2-1, wait, 2)
				}
				c.rect("bar "+class, at(a.Started), top, math.Max(at(stop)-at(a.Started)-0.5, 1), math.Max(row-2, 1))
			})
		}
	}
	return c.String()
}

// CourseOf are the readings of a metric of a trial. Others may have been printed at other steps.
func CourseOf(t *study.Trial, metric string) []study.Measurement {
	return slices.DeleteFunc(slices.Clone(t.Measurements), func(m study.Measurement) bool {
		_, there := m.Metrics.Get(metric)
		return !there
	})
}

// curves are the readings of trials, those of running ones included.
func (s *Study) curves() string {
	with := slices.DeleteFunc(s.bestOnTop(), func(t *Trial) bool { return len(CourseOf(t.Trial, s.Metric)) == 0 })
	var steps, values []float64
	for _, t := range with {
		for _, m := range CourseOf(t.Trial, s.Metric) {
			if v := reported(m.Metrics, s.Metric); finite(v) {
				steps, values = append(steps, m.Step), append(values, v)
			}
		}
	}
	if len(values) == 0 {
		return ""
	}
	x := axis{lo: slices.Min(steps), hi: slices.Max(steps), label: "step"}
	if x.lo == x.hi {
		x.hi++
	}
	c := s.chart("Learning curves", 380, 240, x, axisOf(s.Metric, values, s.Direction))
	c.frame()
	for _, t := range with[max(len(with)-mostLines, 0):] {
		places := lists.Map(CourseOf(t.Trial, s.Metric), func(m study.Measurement) [2]float64 {
			return [2]float64{c.x.at(m.Step), c.y.at(reported(m.Metrics, s.Metric))}
		})
		c.trial(t.Number, func() { c.path("curve "+strings.TrimPrefix(t.class(), "d "), places) })
	}
	return c.String()
}
