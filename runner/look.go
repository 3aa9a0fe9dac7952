package runner

import (
	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// Look says what is known of the attempt in a directory from afar: the process id of its
// supervisor, 0 if that is not known, and whether its command has ended.
func Look(dir string) (pid int, ended bool, err error) {
	fd, err := openDir(dir)
	if err != nil {
		return 0, false, err
	}
	defer unix.Close(fd)
	file, err := door.OpenAt(fd, RecordName, unix.O_RDONLY)
	if err != nil {
		return 0, false, err
	}
	defer unix.Close(file)
	rec, err := readRecord(file)
	return rec.PID, rec.Exit != nil, err
}
