package runner

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// TestShortages: what may pass is told from what will not.
func TestShortages(t *testing.T) {
	for errno, temporary := range map[unix.Errno]bool{
		unix.EAGAIN: true, unix.ENOMEM: true, unix.EMFILE: true, unix.ENFILE: true, unix.ETXTBSY: true,
		unix.ENOENT: false, unix.EACCES: false, unix.ENOSPC: false, unix.EROFS: false, unix.E2BIG: false,
	} {
		t.Run(fmt.Sprint(errno), func(t *testing.T) {
			start, disk := spawnError("start", errno), diskError("fill", errno)
			if start.Temporary != temporary || disk.Temporary != temporary || start.Disk || disk.Disk == temporary {
				t.Errorf("%v: %+v, %+v", errno, start, disk)
			}
		})
	}
}
