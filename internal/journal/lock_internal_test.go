package journal

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A lock is tried for as long as patience lasts, and no longer; for long once its holder
// is dead.
func TestPatience(t *testing.T) {
	const ever = time.Hour
	broken := errors.New("broken")
	for _, c := range []struct {
		free  time.Duration // when the lock becomes free
		dead  time.Duration // when its holder has died
		err   error         // of the look at it then
		ok    bool
		takes time.Duration
	}{
		{0, ever, nil, true, 0},
		{25 * time.Millisecond, ever, nil, true, 30 * time.Millisecond},
		{25 * time.Millisecond, ever, broken, false, 30 * time.Millisecond},
		{lockPatience, ever, nil, true, lockPatience},
		{lockPatience + 1, ever, nil, false, lockPatience},
		{lockPatience + 1, 0, nil, true, lockPatience + lockPause},
		{lockPatience + 1, lockPatience + 1, nil, false, lockPatience},
		{orphanPatience, 0, nil, true, orphanPatience},
		{orphanPatience + 1, 0, nil, false, orphanPatience},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ok, err := patiently(func() (bool, error) {
					if time.Since(began) < c.free {
						return false, nil
					}
					return c.err == nil, c.err
				}, func() bool { return time.Since(began) >= c.dead })
				if took := time.Since(began); ok != c.ok || err != c.err || took != c.takes {
					t.Errorf("free after %v, dead after %v: %v, %v after %v", c.free, c.dead, ok, err, took)
				}
			})
		})
	}
}
