package parser_test

import (
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

// What stands between the rows of a table does not end it, and another table does.
func TestTablesAmongLines(t *testing.T) {
	for _, test := range []struct {
		text string
		want string // the values of loss, one after the other
	}{
		{"epoch loss acc\n1 0.5 0.9\nsaving model checkpoint\n2 0.4 0.8\n", "0.5 0.4"},
		{"epoch,loss\n1,0.5\nsaved,done\n2,0.4\n", "0.5 0.4"},
		{"epoch,loss\n1,0.5\n2,0.4\n\nclass,accuracy\n0,0.9\n1,0.8\n", "0.5 0.4"},
		{"epoch,loss\n1,0.5\n2,0.4\nclass,accuracy\ncat,0.9\ndog,0.8\n", "0.5 0.4"},
		{"epoch,loss\n1,0.5\nclass,accuracy\n0,0.9\nepoch,loss\n2,0.4\n", "0.5 0.4"},
		{"epoch,loss\n1,0.5\nepoch,accuracy\n1,0.9\nepoch,loss\n2,0.4\nepoch,accuracy\n2,0.8\n", "0.5 0.4"},
		{"epoch  loss\n1  0.5\nepoch  acc\n1  0.9\n", "0.5"},
		{"epoch loss acc\n1 0.5 0.9\nend of epoch\n2 0.4 0.8\n", "0.5 0.4"},
		{"| epoch | loss |\n|---|---|\n| 1 | 0.5 |\n|---|---|\n| 2 | 0.4 |\n", "0.5 0.4"},
		{"epoch  loss\n-----  ----\n1  0.5\n-----  ----\n2  0.4\n", "0.5 0.4"},
		{"epoch,loss\nno row\n1,0.5\n", ""},
		{"epoch,loss\n1,\n2,0.4\n3,NA\n", "0.4"},
		{"\"epoch\",\"loss\"\n1,\"0.5\"\n", "0.5"},
		{"epoch;loss\n1;0.5\n", "0.5"},
		{"epoch\tloss\n1\t0.5\n", "0.5"},
		{"loss,loss\n1,0.5\n", ""}, // which one?
		{"The final loss is as follows\n1 2 3 4 5 x\n", ""},
		{"epoch loss:\n1 2\n", ""},
	} {
		t.Run(test.text, func(t *testing.T) {
			var got []string
			pattern, err := parser.Compile(parser.Rule{Metric: "loss"})
			if err != nil {
				t.Fatal(err)
			}
			scanner := parser.NewCollector(pattern).Scanner(parser.Stdout, func(r parser.Reading) { got = append(got, r.Text) })
			feed(t, scanner, strings.ReplaceAll(test.text, "|", "│"), 3)
			if strings.Join(got, " ") != test.want {
				t.Errorf("%q: got %q, want %q", test.text, got, test.want)
			}
		})
	}
}
