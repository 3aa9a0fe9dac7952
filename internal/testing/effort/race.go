//go:build race

package effort

// Raced says that the race detector watches.
const Raced = true
