package study

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/lbotune/lbotune/journal"
)

// InUse reports whether a process works on the study. It looks at the lock for
// an instant, which a starting process waits out.
func InUse(l Layout) (bool, error) {
	f, err := os.OpenFile(journal.LockPath(l.Journal()), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the study's lock: %w", err)
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the study's lock: %w", err)
	}
	return false, nil
}
