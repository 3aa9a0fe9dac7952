package door

import "golang.org/x/sys/unix"

// mount tells one mount from another, by its number where the system has these (Linux 5.8): what is
// mounted a second time has the device that it had.
type mount struct {
	numbered bool
	number   uint64 // of the mount, or else of its device
}

func mountOf(fd int) (mount, error) {
	var x unix.Statx_t
	err := retry(func() error { return unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &x) })
	if err == nil && x.Mask&unix.STATX_MNT_ID != 0 {
		return mount{true, x.Mnt_id}, nil
	}
	var st unix.Stat_t
	err = retry(func() error { return unix.Fstat(fd, &st) })
	return mount{number: uint64(st.Dev)}, err
}
