//go:build !race

package effort

// raced says that the race detector watches.
const raced = false
