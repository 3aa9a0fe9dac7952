package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
)

const sizeLimit = 10_000

// appendToLimit runs in a process of its own, whose files may not grow beyond sizeLimit.
func appendToLimit(path string) string {
	limit := syscall.Rlimit{Cur: sizeLimit, Max: sizeLimit}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err.Error()
	}
	j, err := journal.Create(path, header{"s1", 1})
	for n := 0; err == nil; n++ {
		if err = j.Append(sample("s1", n)); err != nil {
			break
		}
		if n == sizeLimit {
			err = errors.New("the limit does not hold")
		}
	}
	return fmt.Sprint(errors.Is(err, syscall.EFBIG), ": ", err)
}

func TestFileSizeLimit(t *testing.T) {
	path := newPath(t)
	said, stop := startHelper(t, "limit", path)
	if !strings.HasPrefix(said, "true: cannot write journal") {
		t.Fatal(said)
	}
	stop()
	j, sum, err := journal.Open(path, ignore)
	check(t, err)
	defer j.Close()
	if sum.Torn != nil || sum.Records < 50 || sum.Size > sizeLimit {
		t.Errorf("the journal ends with %+v, torn %v", sum, sum.Torn)
	}
}
