package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lbotune/lbotune/internal/spelling"
)

// Nearest returns the candidate that name most likely misspells, if there is one.
func Nearest(name string, candidates []string) (string, bool) {
	return spelling.Nearest(name, candidates)
}

// didYouMean is a hint for a misspelt name, or a list of what is allowed.
func didYouMean(name string, candidates []string) string {
	if c, ok := Nearest(name, candidates); ok {
		return fmt.Sprintf("did you mean %s?", c)
	}
	return "allowed here: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}

// didYouMeanWord is a hint for a misspelt word, or for one that means something to
// another tool. It is empty if there is none.
func didYouMeanWord(word string, allowed []string) string {
	if c, ok := Nearest(word, allowed); ok {
		return "did you mean " + c + "?"
	}
	for _, a := range allowed {
		if hint := otherTools().Words[a].of(word); hint != "" {
			return hint
		}
	}
	return ""
}
