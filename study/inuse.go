package study

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/lbotune/lbotune/journal"
)

// lockPatience is how long a lock that is held is looked at: of a process that
// was killed, a child that has not reached its exec may hold it for a moment.
const lockPatience = 100 * time.Millisecond

// InUse reports whether a process works on the study. It takes the lock for an
// instant if it is free, which a starting process waits out.
func InUse(l Layout) (bool, error) {
	f, err := os.OpenFile(journal.LockPath(l.Journal()), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the study's lock: %w", err)
	}
	defer f.Close()
	for begun := time.Now(); ; time.Sleep(lockPatience / 20) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		if time.Since(begun) > lockPatience {
			return true, nil
		}
	}
	if err != nil {
		return false, fmt.Errorf("look at the study's lock: %w", err)
	}
	return false, nil
}
