// Package spelling tells how far one word is from another.
package spelling

import (
	"fmt"
	"slices"
	"strings"
)

// Distance counts the insertions, deletions, substitutions and swaps of neighbours,
// in bytes, that make b of a: the optimal string alignment distance.
func Distance(a, b string) int {
	two, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		cur[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cur[j+1] = min(cur[j]+1, prev[j+1]+1, prev[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cur[j+1] = min(cur[j+1], two[j-1]+1)
			}
		}
		two, prev, cur = prev, cur, two
	}
	return prev[len(b)]
}

// Nearest returns the candidate that name most likely misspells, if there is one.
func Nearest(name string, candidates []string) (string, bool) {
	best, dist := "", 2*max(2, len(name)/3)+2
	for _, c := range candidates {
		d := 2 * Distance(strings.ToLower(name), strings.ToLower(c))
		if len(name) > 1 && strings.HasPrefix(c, strings.ToLower(name)) {
			d = min(d, 1) // a beginning is nearer than any mistake
		}
		if d < dist && d < 2*max(len(name), len(c)) {
			best, dist = c, d
		}
	}
	return best, best != ""
}

// DidYouMean is a hint for a misspelt name, or a list of what is allowed, if anything is.
func DidYouMean(name string, candidates []string) string {
	if len(candidates) == 0 {
		return ""
	}
	if c, ok := Nearest(name, candidates); ok {
		return fmt.Sprintf("did you mean %s?", c)
	}
	return "allowed here: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}
