package spec

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/lbotune/lbotune/internal/spelling"
)

//go:embed othertools.toml
var otherToolsText string

// hints are words by what to write in their place.
type hints map[string][]string

var otherTools = sync.OnceValue(func() (all struct{ Keys, Words map[string]hints }) {
	if _, err := toml.Decode(otherToolsText, &all); err != nil {
		panic("spec: othertools.toml: " + err.Error())
	}
	return all
})

// otherKey says what is written instead of a key that another tool has in the table at path.
func otherKey(path, key string) string {
	table, _, nested := strings.Cut(path, ".")
	switch {
	case path == "":
		table = "top"
	case nested != (table == "params" || table == "metrics"):
		return "" // [params] or [metrics] itself, or a table within another one
	}
	return otherTools().Keys[table].of(key)
}

func (h hints) of(word string) string {
	for hint, words := range h {
		if slices.Contains(words, strings.ToLower(word)) {
			return hint
		}
	}
	return ""
}

// didYouMeanWord is a hint for a misspelt word, or for one that means something to
// another tool. It is empty if there is none.
func didYouMeanWord(word string, allowed []string) string {
	if c, ok := spelling.Nearest(word, allowed); ok {
		return "did you mean " + c + "?"
	}
	for _, a := range allowed {
		if hint := otherTools().Words[a].of(word); hint != "" {
			return hint
		}
	}
	return ""
}
