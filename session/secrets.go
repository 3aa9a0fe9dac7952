package session

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/study"
)

// Secrets are the values of a study's secret_env, by their names. They come from the
// environment of lbotune, are handed on to the trials there, and must not be written
// or shown.
type Secrets map[string]string

// ShortestSecret is the length in bytes below which a value cannot be told from other
// text.
const ShortestSecret = 4

// shortestLine is the same for one of several lines.
const shortestLine = 8

// SecretsOf reads the secrets of a study from the environment. Those that are not set
// are missing.
func SecretsOf(c *study.Config) Secrets {
	out := Secrets{}
	for _, name := range c.Run.SecretEnv {
		if value := os.Getenv(name); len(value) >= ShortestSecret {
			out[name] = value
		}
	}
	return out
}

// Hide replaces the secrets in a text by their names in brackets; also what is left of
// one, if it is at least half, where the text was cut, and the lines of a longer one.
func (s Secrets) Hide(text string) string {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		mark := "[" + name + "]"
		text = strings.ReplaceAll(text, s[name], mark)
		for line := range strings.Lines(s[name]) {
			line = strings.TrimSpace(line)
			if len(line) < shortestLine && len(line) < len(s[name]) {
				continue // a rule, or a brace
			}
			for n := len(line); n >= max(ShortestSecret, len(line)/2); n-- {
				text = strings.ReplaceAll(text, line[:n], mark)
				text = strings.ReplaceAll(text, line[len(line)-n:], mark)
			}
		}
	}
	return text
}
