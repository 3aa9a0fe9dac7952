package tempdir

import (
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Disk makes dir a file system of its own with room for kib KiB, or skips the test where that is not
// allowed. It goes when the test ends, as soon as nobody, such as a child at its fork, has it open.
func Disk(t testing.TB, dir string, kib int) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=0700", kib)); err != nil {
		t.Skipf("needs the right to mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		t.Helper()
		if err := unmount(dir, patience); err != nil {
			t.Error(err)
			_ = unix.Unmount(dir, unix.MNT_DETACH)
		}
	})
}

// unmount removes a file system, and tries again for as long as somebody uses it.
func unmount(dir string, patience time.Duration) error {
	return insist(patience, func() error { return os.NewSyscallError("unmount "+dir, unix.Unmount(dir, 0)) })
}
