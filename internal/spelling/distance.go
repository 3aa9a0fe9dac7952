// Package spelling tells how far one word is from another.
package spelling

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
