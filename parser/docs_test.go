package parser_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/parser"
)

// docExample finds a log, a spec and what docs/metrics.md says of them.
var docExample = regexp.MustCompile("(?s)```text\n(.*?)```\n```toml\n(.*?)```\n(Value|No value): `(.*?)`(?: at step `(.*?)`)?\n")

// TestDocs checks that each example of docs/metrics.md is true.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := docExample.FindAllStringSubmatch(string(page), -1)
	if logs := strings.Count(string(page), "```text\n"); logs == 0 || len(examples) != logs {
		t.Fatalf("%d examples are complete of %d", len(examples), logs)
	}
	for _, example := range examples {
		log, spec, verdict, want, step := example[1], example[2], example[3], example[4], example[5]
		result, err := read(t, specRule(t, spec), specSource(t, spec), log)
		switch {
		case verdict == "No value" && (err == nil || err.Error() != want):
			t.Errorf("%s\n got: %v\nwant: %s", spec, err, want)
		case verdict == "Value" && (err != nil || strconv.FormatFloat(result.Value, 'g', -1, 64) != want):
			t.Errorf("%s\n got: %v, %v\nwant: %s", spec, result.Value, err, want)
		case step != "" && (!result.Reading.HasStep || strconv.FormatFloat(result.Reading.Step, 'g', -1, 64) != step):
			t.Errorf("%s\n got: step %v\nwant: %s", spec, result.Reading.Step, step)
		}
	}
	for _, name := range parser.Dialects() {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("the dialect %s is not in the table", name)
		}
	}
}

type objective struct {
	Metric, Regex, JSON, Dialect string
	LastNumber                   bool `toml:"last_number"`
	Source                       parser.Source
	File, Step, Direction        string
	Pick                         string
}

func specObjective(t *testing.T, spec string) objective {
	t.Helper()
	var table struct{ Objective objective }
	meta, err := toml.Decode(spec, &table)
	if err != nil || len(meta.Undecoded()) > 0 {
		t.Fatalf("%s: %v, unknown keys %v", spec, err, meta.Undecoded())
	}
	if table.Objective.File != "" {
		table.Objective.Source = parser.File
	}
	return table.Objective
}

func specRule(t *testing.T, spec string) parser.Rule {
	o := specObjective(t, spec)
	return parser.Rule{Metric: o.Metric, Regex: o.Regex, JSON: o.JSON, Dialect: o.Dialect,
		LastNumber: o.LastNumber, Source: o.Source, Step: o.Step, Pick: o.Pick}
}

func specSource(t *testing.T, spec string) parser.Source {
	if o := specObjective(t, spec); o.Source != "" {
		return o.Source
	}
	return parser.Stdout
}
