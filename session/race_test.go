//go:build race

package session_test

// raced says that the race detector watches, under which long studies are left out.
const raced = true
