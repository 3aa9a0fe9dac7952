package journal

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A lock is tried for as long as patience lasts, and no longer.
func TestPatience(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		free  time.Duration // when the lock becomes free
		err   error         // of the look at it then
		ok    bool
		takes time.Duration
	}{
		{0, nil, true, 0},
		{25 * time.Millisecond, nil, true, 30 * time.Millisecond},
		{25 * time.Millisecond, broken, false, 30 * time.Millisecond},
		{lockPatience, nil, true, lockPatience},
		{lockPatience + 1, nil, false, lockPatience},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ok, err := patiently(func() (bool, error) {
				if time.Since(began) < c.free {
					return false, nil
				}
				return c.err == nil, c.err
			})
			if took := time.Since(began); ok != c.ok || err != c.err || took != c.takes {
				t.Errorf("free after %v: %v, %v after %v", c.free, ok, err, took)
			}
		})
	}
}
