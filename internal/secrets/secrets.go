// Package secrets keeps the values of a study's secret_env out of what is written and shown.
package secrets

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Set are the values of a study's secret_env, by their names. They come from the environment, are
// handed on to the trials, and must not be written or shown.
type Set map[string]string

// Shortest is the length in bytes below which a value cannot be told from other text.
const Shortest = 4

// shortestLine is the same for one of several lines.
const shortestLine = 8

// Of reads the secrets of these names from the environment. Those that are not set are missing.
func Of(names []string) Set {
	out := Set{}
	for _, name := range names {
		if value := os.Getenv(name); len(value) >= Shortest {
			out[name] = value
		}
	}
	return out
}

// telling is the length in bytes from which a piece of a longer secret is hidden too.
const telling = 16

// Hide replaces the secrets in a text by their names in brackets: as they are, and as they
// are quoted; the lines of a longer one; and what is left of one, if it is at least half or
// long enough to be of use, or stands before the dots of a quotation that was cut.
func (s Set) Hide(text string) string {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		mark := "[" + name + "]"
		for _, form := range quotations(s[name]) {
			text = strings.ReplaceAll(text, form, mark)
		}
		for line := range strings.Lines(s[name]) {
			line = strings.TrimSpace(line)
			if len(line) < shortestLine && len(line) < len(s[name]) {
				continue // a rule, or a brace
			}
			for _, form := range quotations(line) {
				text = hidePieces(text, form, mark)
			}
		}
	}
	return text
}

// cut ends what the parser repeats of a longer text.
const cut = "..."

// hidePieces replaces the beginnings and the ends of a secret in a text.
func hidePieces(text, secret, mark string) string {
	least := max(Shortest, min(len(secret)/2, telling))
	first, last := secret[:min(least, len(secret))], secret[max(len(secret)-least, 0):]
	for n := len(secret); n >= least && strings.Contains(text, first); n-- {
		text = strings.ReplaceAll(text, secret[:n], mark)
	}
	for n := len(secret); n >= least && strings.Contains(text, last); n-- {
		text = strings.ReplaceAll(text, secret[len(secret)-n:], mark)
	}
	for n := min(least, len(secret)); n >= Shortest; n-- {
		text = strings.ReplaceAll(text, secret[:n]+cut, mark+cut)
	}
	return text
}

// quotations are a text as it is, as Go quotes it, and as JSON does.
func quotations(text string) []string {
	out := []string{text}
	quoted := strconv.Quote(text)
	coded, _ := json.Marshal(text) // a string: cannot fail
	for _, q := range []string{quoted, string(coded)} {
		if q = q[1 : len(q)-1]; !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	return out
}
