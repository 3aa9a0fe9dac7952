package spec

import "github.com/lbotune/lbotune/internal/spelling"

// Nearest returns the candidate that name most likely misspells, if there is one.
func Nearest(name string, candidates []string) (string, bool) {
	return spelling.Nearest(name, candidates)
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
