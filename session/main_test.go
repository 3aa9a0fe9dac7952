package session_test

import (
	"flag"
	"os"
	"testing"

	"github.com/lbotune/lbotune/internal/testing/tempdir"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // however few processors there are: they wait for the disk
	os.Exit(tempdir.InMemory(m.Run))
}
