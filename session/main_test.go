package session_test

import (
	"flag"
	"os"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/effort"
	"github.com/lbotune/lbotune/internal/testing/tempdir"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // however few processors there are: they wait for the disk
	os.Exit(tempdir.InMemory(m.Run))
}

// raced is how much a short test does, and what it does under the race detector.
func raced(short, watched int) int {
	if effort.Raced {
		return watched
	}
	return short
}
