package journal

import "golang.org/x/sys/unix"

// Forget drops the cached pages of the file. After a failed fsync the kernel takes the pages
// that it could not write for clean, and goes on showing them.
func (f osFile) Forget() { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
