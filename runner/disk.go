package runner

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// probeSize is the room that a disk must have not to be called full. The files of an
// attempt take less.
const probeSize = 64 << 10

// noteFullDisk reports whether the disk is full now that the command has ended with code,
// and writes it down for those who find the attempt later.
func (a *attempt) noteFullDisk(code int) bool {
	if code == 0 && !crowded(a.dir) || !full(a.dir) {
		return false
	}
	_ = appendEntry(a.record, entry{Full: true})
	return true
}

// NoteFullDisk writes down in the directory of an attempt that runs that the disk is
// full, for an orchestrator that cannot stay until its end. Its record has the room.
func NoteFullDisk(dir string) {
	d, err := openDir(dir)
	if err != nil {
		return
	}
	defer unix.Close(d)
	if record, err := door.OpenAt(d, RecordName, unix.O_WRONLY|unix.O_APPEND); err == nil {
		_ = appendEntry(record, entry{Full: true})
		unix.Close(record)
	}
}

// crowded reports whether the file system of directory dir is so full that it is worth a
// closer look, which costs more.
func crowded(dir int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(dir, &st) == nil && (st.Bavail < 1024 || st.Files > 0 && st.Ffree < 64)
}

// full reports whether a file of probeSize cannot be made in directory dir for want of
// room: on the disk, or in somebody's quota.
func full(dir int) bool {
	const name = ".room"
	fd, err := createAt(dir, name)
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
