package spec

import "github.com/lbotune/lbotune/study"

// warmStart reads what the study begins with: paths, or tables with a path and what it is.
func (t *table) warmStart() []study.WarmStart {
	const key, want = "warm_start", `a path, or a table such as { from = "runs.csv", same = true }`
	var out []study.WarmStart
	for i, e := range t.array(key, `an array such as ["old.study", "runs.csv"]`) {
		w := study.WarmStart{}
		switch e := e.(type) {
		case string:
			w.From = e
		case map[string]any:
			s := &table{doc: t.doc, path: t.key(key), element: i, data: e}
			w = study.WarmStart{From: s.str("from", ""), Study: s.str("study", ""), Same: s.boolean("same")}
			s.done()
		default:
			t.at(key, "", "element %d is %s; want %s", i+1, describe(e), want)
			continue
		}
		if w.From == "" {
			t.at(key, "", "element %d names nothing; want %s", i+1, want)
		}
		out = append(out, w)
	}
	return out
}
