// Package pattern holds regular expressions back until they are needed: of eighty a command
// uses a few, and compiling them all takes a fifth of its start.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy compiles expression when it is first called. It panics then if that is none.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
