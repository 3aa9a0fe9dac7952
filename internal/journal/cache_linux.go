package journal

import "golang.org/x/sys/unix"

// Forget drops the cached pages of the file, which the kernel takes for clean after a failed fsync.
func (f osFile) Forget() { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
