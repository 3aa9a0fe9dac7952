package spec

import (
	"regexp"
	"strings"
)

// The ways in which programs list the words that an option takes:
//
//	argparse      --optimizer {sgd,adam}
//	click         --optimizer [sgd|adam]
//	clap          --optimizer <OPTIMIZER>  The optimizer [possible values: sgd, adam]
//	gflags, absl  --optimizer: <sgd|adam>: the optimizer
var (
	listedRE   = regexp.MustCompile(`[{\[<(]\s*([\w.+-]+(?:\s*[,|]\s*[\w.+-]+)+)\s*[}\]>)]`)
	possibleRE = regexp.MustCompile(`(?i)\[?(?:possible values|choices|one of|allowed values)\s*:\s*[\[{(]?\s*([^\]})]+)`)
	flagRE     = regexp.MustCompile(`^\s*-[\w-]+(?:[ =](?:[{\[<(][^}\]>)]*.|[^\s,]+))?(?:,\s+-[\w-]+)*`)
	longRE     = regexp.MustCompile(`--?[A-Za-z][\w-]*`)
	wordRE     = regexp.MustCompile(`^[\w.+-]+$`)
)

// optionChoices reads, from what a program prints for --help, the words that its
// options take.
func optionChoices(help string) map[string][]string {
	out := map[string][]string{}
	var flags []string // whose description the line belongs to
	for line := range strings.Lines(help) {
		head := flagRE.FindString(line)
		if head != "" {
			flags = longRE.FindAllString(head, -1)
		}
		for _, flag := range flags {
			if words := listed(line, head); len(words) > 1 && out[flag] == nil {
				out[flag] = words
			}
		}
		if strings.TrimSpace(line) == "" {
			flags = nil
		}
	}
	return out
}

// listed returns the words that a line lists. In the line of the option itself they
// may stand in its place for a value; further down only if the line says what they are.
func listed(line, head string) []string {
	if m := possibleRE.FindStringSubmatch(line); m != nil {
		return words(m[1])
	}
	if head == "" {
		return nil
	}
	if m := listedRE.FindStringSubmatch(line); m != nil {
		return words(m[1])
	}
	return nil
}

// words splits a list at commas and bars; a list with anything else in it is none.
func words(list string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '|' }) {
		w = strings.Trim(strings.TrimSpace(w), `'"`)
		if !wordRE.MatchString(w) {
			return nil
		}
		out = append(out, w)
	}
	return out
}
