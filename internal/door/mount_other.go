//go:build !linux

package door

import "golang.org/x/sys/unix"

// mount tells one mount from another by its device.
type mount struct{ device uint64 }

func mountOf(fd int) (mount, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(fd, &st) })
	return mount{uint64(st.Dev)}, err
}
