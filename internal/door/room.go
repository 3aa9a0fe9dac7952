package door

import (
	"errors"

	"golang.org/x/sys/unix"
)

// probeSize is the room that a disk must have not to be called full; an attempt's files take less.
const probeSize = 64 << 10

// Full reports whether a file of probeSize finds no room in the directory of a descriptor: on the disk, or in a
// quota. Unless it looks closely, which costs more, it writes nothing where the file system itself does not say
// that it has hardly any room.
func Full(dir int, closely bool) bool {
	var st unix.Statfs_t
	if !closely && (unix.Fstatfs(dir, &st) != nil || st.Bavail >= 1024 && (st.Files == 0 || st.Ffree >= 64)) {
		return false
	}
	const name = ".lbotune-room"
	_ = unix.Unlinkat(dir, name, 0) // of an lbotune that was killed here
	fd, err := OpenAt(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err == nil {
		var n int
		if n, err = unix.Write(fd, make([]byte, probeSize)); err == nil && n < probeSize {
			err = unix.ENOSPC
		}
		unix.Close(fd)
		_ = unix.Unlinkat(dir, name, 0)
	}
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

// FullDisk is Full for the directory at path, unless that is a link.
func FullDisk(path string, closely bool) bool {
	dir, err := OpenDirAt(unix.AT_FDCWD, path)
	if err != nil {
		return false
	}
	defer unix.Close(dir)
	return Full(dir, closely)
}
