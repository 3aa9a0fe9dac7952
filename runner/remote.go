package runner

import (
	"time"

	"golang.org/x/sys/unix"
)

// Claim creates a directory, and missing parents, with the owner's rights alone. Of
// several claimants exactly one succeeds; the others get ErrClaimed.
func Claim(dir string) error {
	fd, err := claim(dir)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// Harvest returns the Exit of an attempt of which nothing lives any more, as its record
// tells it: for launchers that run attempts on other machines and know otherwise when one
// is over. Errors are those of Attach.
func Harvest(job Job) (Exit, error) {
	a, rec, err := reopen(job)
	if err != nil {
		return Exit{}, err
	}
	defer a.close()
	a.counted = a.countAt(rec)
	return a.harvest(rec)
}

// FullDisk reports whether the disk of directory dir has no room for an attempt.
func FullDisk(dir string) bool {
	d, err := openDir(dir)
	if err != nil {
		return false
	}
	defer unix.Close(d)
	return full(d)
}

// NoRoom is FullDisk for directories that are not an attempt's: it writes nothing there
// unless the file system itself says that it has hardly any room.
func NoRoom(dir string) bool {
	d, err := openDir(dir)
	if err != nil {
		return false
	}
	defer unix.Close(d)
	return crowded(d) && full(d)
}

// Inspect returns the process id of an attempt's supervisor, 0 if it has not started yet,
// and the time of its start, as the record tells them.
func Inspect(dir string) (pid int, started time.Time) {
	a, _, err := reopen(Job{Dir: dir})
	if err != nil {
		return 0, started
	}
	defer a.close()
	return a.pid, a.started
}
