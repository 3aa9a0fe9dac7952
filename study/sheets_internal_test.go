package study

import (
	"strings"
	"testing"

	"github.com/lbotune/lbotune/spaces"
)

// Cells hold numbers and truth values as other tools write them, and texts as they are.
func TestParseCell(t *testing.T) {
	float := spaces.Param{Name: "x", Kind: spaces.KindFloat, Min: -1, Max: 1}
	whole := spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 0, Max: 9}
	large := spaces.Param{Name: "n", Kind: spaces.KindInt, Min: 0, Max: 1 << 53}
	flag := spaces.Param{Name: "b", Kind: spaces.KindBool}
	choice := spaces.Param{Name: "c", Kind: spaces.KindChoice, Choices: []spaces.Value{spaces.String("SGD"), spaces.String("sgd")}}
	for _, c := range []struct {
		p    spaces.Param
		text string
		want spaces.Value // none if it cannot be read
	}{
		{float, "0.5", spaces.Float(0.5)},
		{float, "low", spaces.Value{}}, // although 0 would be in the range
		{whole, "3.0", spaces.Int(3)},
		{whole, "3.5", spaces.Value{}},
		{large, "9007199254740993", spaces.Value{}}, // whose neighbour is in the range
		{flag, "True", spaces.Bool(true)},
		{choice, "SGD", spaces.String("SGD")},
	} {
		t.Run(c.text, func(t *testing.T) {
			if v, err := parseCell(c.p, c.text); (err == nil) != c.want.IsValid() || err == nil && v != c.want {
				t.Errorf("%s of %s is %v, %v", c.text, c.p.Name, v, err)
			}
		})
	}
}

// A column that has the name of a parameter or a metric is no other's, in other letters or behind a prefix.
func TestColumnsInOtherLettersAreTheirOwn(t *testing.T) {
	c := Config{Params: []spaces.Param{{Name: "Loss"}}, Metrics: []Metric{{Name: "loss"}}}
	for _, find := range []struct {
		column        string
		param, metric bool
	}{
		{"Loss", true, false},
		{"loss", false, true},
		{"config.Loss", true, false},
		{"LOSS", true, true},
	} {
		param, err := c.findColumn([]string{find.column}, "Loss", paramColumn(), "params.Loss")
		metric, no := c.findColumn([]string{find.column}, "loss", metricColumn(), "metrics.loss", "loss")
		if (param != "") != find.param || (metric != "") != find.metric || err != nil || no != nil {
			t.Errorf("%s: %q and %q, %v, %v", find.column, param, metric, err, no)
		}
	}
	c.Params = []spaces.Param{{Name: "n"}, {Name: "config_n"}}
	for _, column := range []string{"n", "x"} {
		got, err := c.findColumn([]string{"config_n", column}, "n", paramColumn(), "params.n")
		if want := strings.TrimPrefix(column, "x"); got != want || err != nil {
			t.Errorf("%s: %q, %v", column, got, err)
		}
	}
}
