package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lbotune/lbotune/parser"
)

// Of a JSON text in which a part is missing (here at each |), or of which a line is too long (at each ~), no
// object within is taken for a text of its own, whatever it is written like. What stands behind it counts.
func TestObjectsOfABrokenText(t *testing.T) {
	long := fmt.Sprintf("\"long\": %q", strings.Repeat("x", parser.MaxLine))
	after := "{\"loss\": 4}\n"
	for _, c := range []struct {
		text, pick string
		value      float64
		reason     string
	}{
		{"{\n ~,\n \"best\": {\"loss\": 9},\n \"loss\": 5\n}\n", "", 0, "incomplete"},
		{"{\n ~,\n \"best\": {\"loss\": 9},\n \"loss\": 5\n}\n" + after, "", 4, ""},
		{after + "{\n ~,\n \"best\": {\"loss\": 9},\n \"loss\": 5}\n", "", 0, "incomplete"},
		{after + "{\n ~,\n \"loss\": 5, \"best\": {\"loss\": 9}}\n", "", 0, "incomplete"},
		{"{\n ~,\n \"best\": {\"loss\": 9},\n \"loss\": 5\n}\n" + after, "first", 0, "incomplete"},
		{"{\n ~,\n \"best\": {\"loss\": 9},\n \"loss\": 5\n}\n" + after, "max", 0, "incomplete"},
		{after + "{\n ~,\n \"best\": {\"loss\": 1},\n \"loss\": 5\n}\n", "first", 4, ""},
		{"{~,\n \"all\": [\n  {\n   \"loss\": 9\n  }, {\n   \"loss\": 8\n  }\n ], \"loss\": 5\n}\n", "", 0, "incomplete"},
		{"{\n \"a\": 1,\n|x,\n \"best\": {\"loss\": 9},\n \"loss\": 5\n}\n", "", 0, "incomplete"},
		{"{\n \"a\": 1,\n|x,\n \"best\": {\"loss\": 9},\n \"loss\": 5\n}\n" + after, "", 4, ""},
		{"{\n \"best\": {\n|x\"loss\": 8,\n \"loss\": 5\n}\n}\n", "", 0, "incomplete"},
		{"|x {\n {\"loss\": 9},\n {\"loss\": 8}\n ],\n \"loss\": 5\n}\n", "", 0, "incomplete"},
		{after + "|x\n \"best\": {\"loss\": 9}}\n", "", 0, "incomplete"},
		{"|x\n" + after, "", 4, ""},
		{"|x\nstep {\"loss\": 3}\n" + after + "[\n1\n]\n{'a': 1,\n 'b': 2}\n", "", 4, ""},
		{"{\n|" + after, "", 0, "incomplete"},
		{"|x\n" + after + "config {\n lr\n}\n", "", 4, ""},
		{"config {\n lr\n{\n|\"best\": {\"loss\": 9},\n \"loss\": 5\n}\n", "", 0, "incomplete"},
		{"|x\nconfig {\n lr\n}\n{\n|\"best\": {\"loss\": 9},\n \"loss\": 5\n}\n", "", 0, "incomplete"},
		{"{\n\"a\": 1,\n|\n\"loss\": 9\n}\n", "", 0, "incomplete"},
		// the text never ends
		{after + "{\n ~,\n \"best\": {\"loss\": 9},\n", "", 0, "incomplete"},
		{after + "{\n ~,\n \"best\": {\"loss\": 9}\n", "", 0, "incomplete"},
		{after + "{\n ~,\n \"best\": {\n  \"loss\": 9\n }\n", "", 0, "incomplete"},
		{after + "{\n ~,\n \"all\": [\n  {\"loss\": 9},\n  {\"loss\": 8}\n", "", 0, "incomplete"},
		{after + "{\n ~,\n \"all\": [\n  {\n   \"loss\": 9\n  },\n\n  {\n   \"loss\": 8\n  }\n", "", 0, "incomplete"},
		{"{\n ~,\n \"best\": {\"loss\": 9},\n", "", 0, "incomplete"},
		{"|x,\n \"best\": {\"loss\": 9},\n \"rest", "", 0, "incomplete"},
		{"{\n ~,\n \"best\": {\"loss\": 9},\nstep 1\n" + after, "first", 0, "incomplete"},
		{"{\n ~,\n \"best\": {\"loss\": 9}\n\n" + after, "", 4, ""},
		{"|x\n{\"epoch\": 3,\n \"loss\": 0.5}\n", "", 0.5, ""},
		{"|x,\n|x\n{\"epoch\": 3,\n \"loss\": 0.5}\n", "", 0.5, ""},
		{"{~}\nepoch 3, {\"loss\": 3}, 2 s\n" + after, "first", 3, ""},
	} {
		t.Run(fmt.Sprintf("%s %q", c.pick, c.text), func(t *testing.T) {
			collector := parser.NewCollector(compile([]parser.Rule{{JSON: "loss", Pick: c.pick}})...)
			feed(t, collector.Scanner(parser.Stdout, nil), strings.ReplaceAll(c.text, "~", long), 1<<16)
			checkResult(t, collector, c.value, c.reason)
		})
	}
}

// Neither does a gap end a text that only one line of a dialect holds.
func TestGapBesideADialect(t *testing.T) {
	collector := parser.NewCollector(compile([]parser.Rule{{Dialect: "tune-metric", Metric: "loss"}})...)
	feed(t, collector.Scanner(parser.Stdout, nil), "|x\n[tune-metric]: {\"loss\": 0.31}\n}\n", 1000)
	checkResult(t, collector, 0.31, "")
}
