package spec

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lbotune/lbotune/internal/lists"
	"github.com/lbotune/lbotune/spaces"
	"github.com/lbotune/lbotune/study"
)

// safety reads [safety], once metrics, parameters and the rest are known.
func (t *table) safety(cfg study.Config) *study.Safety {
	s := t.sub("safety")
	if s.data == nil {
		return nil
	}
	out := &study.Safety{Metric: s.str("metric", cfg.Objective().Name)}
	names := lists.Map(cfg.Metrics, func(m study.Metric) string { return m.Name })
	s.when(s.has("metric") && !slices.Contains(names, out.Metric), "metric", didYouMeanWord(out.Metric, names), "there is no metric %s", out.Metric)
	low, high, bad := s.limit("min"), s.limit("max"), s.misread("min", "max")
	switch {
	case bad:
	case (low == nil) == (high == nil):
		s.self("for example min = 0.8", "needs one limit, min or max")
	case low != nil:
		out.At, out.Least = *low, true
	default:
		out.At = *high
	}
	constant, ok := s.number("constant")
	out.Slopes = s.change(cfg.Params)
	switch {
	case ok && s.has("change"):
		s.Wrong("constant", "change says the same of each parameter", "cannot stand beside change; keep one of them")
	case ok && constant <= 0:
		s.Wrong("constant", "", "found %v; want a positive number", constant)
	case ok:
		out.Constant = constant * study.Stretch(cfg.Params)
	case out.Slopes != nil:
		for _, p := range cfg.Params {
			out.Constant = math.Hypot(out.Constant, out.Slopes[p.Name])
		}
	case !s.misread("constant") && !s.has("change"):
		s.Missing("constant", "how much the metric can change at most from one end of a range to the other", "needs a constant, or change for each parameter")
	}
	out.Noise, _ = s.number("noise")
	s.when(out.Noise < 0, "noise", "", "found %v; want at least 0", out.Noise)
	s.done()
	return out
}

// change reads how steep the metric is along each parameter: 0.5 from one end of the range to
// the other, or "0.02 per unit". The answer is for the cube, and nil if there is none.
func (t *table) change(params []spaces.Param) map[string]float64 {
	if v, there := t.get("change"); !there {
		return nil
	} else if _, ok := v.(map[string]any); !ok {
		t.wrongType("change", v, `a table such as { heat = "0.02 per unit", rate = "1.5 per decade", kind = 0.5 }`)
		return nil
	}
	s, out, steep := t.sub("change"), map[string]float64{}, false
	before := len(t.doc.problems)
	for _, p := range params {
		v, there := s.get(p.Name)
		if !there {
			s.self("add "+p.Name+" = 0 if it has no influence", "needs the change along parameter %s, too", p.Name)
			continue
		}
		text, unit := "", ""
		switch v := v.(type) {
		case string:
			text, unit, _ = strings.Cut(v, " per ")
		case int64:
			text = strconv.FormatInt(v, 10)
		case float64:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		}
		slope, err := strconv.ParseFloat(text, 64)
		if _, word := v.(string); err != nil || !(slope >= 0) || math.IsInf(slope, 0) || word && !slices.Contains([]string{"unit", "decade", "step"}, unit) {
			s.Wrong(p.Name, "", `found %s; want a number of at least 0, or one "per unit", "per decade" or "per step"`, describe(v))
			continue
		}
		change, err := p.Change(slope, unit)
		s.when(err != nil, p.Name, "", "%v", err)
		out[p.Name] = change * p.Stretch()
		steep = steep || slope > 0
	}
	s.done()
	t.when(!steep && len(t.doc.problems) == before, "change", "", "says that nothing has an influence; want at least one number above 0")
	return out
}
