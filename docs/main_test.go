// Package docs_test holds the pages against the program: what they show runs, what they link to
// is there, and the architecture is the one that they draw.
package docs_test

import (
	"fmt"
	"os"
	"testing"
)

// The tests name files as the pages do for their readers: from the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.Run()
}
