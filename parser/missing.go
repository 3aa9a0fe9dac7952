package parser

import "bytes"

// missingAfter measures the word that stands where the value should be of a name that ends
// at end, and says that there is none: 0 if no such word does. It must stand behind a
// separator, since "loss none" may be prose. JSON has null for what was not measured, also
// in the lines of a log in which others are: see jsonOccurrence.
func missingAfter(text []byte, end int) int {
	start, ok := skipSeparator(text, end)
	if !ok || len(bytes.TrimSpace(text[end:start])) == 0 {
		return 0
	}
	const longest = len("<na>")
	rest := text[start:]
	size := 0
	for size < len(rest) && size <= longest && !isBlank(rest[size]) && bytes.IndexByte([]byte(",;|)]}"), rest[size]) < 0 {
		size++
	}
	word := string(rest[:size])
	if size < 2 || !isMissing(word) || word == "null" && text[end] == '"' {
		return 0
	}
	return size
}
