package runner

import (
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

func openDir(dir string) (int, error) { return door.OpenDirAt(unix.AT_FDCWD, dir) }

// createAt creates the file name, of mode 0600, in the directory of descriptor dir.
func createAt(dir int, name string) (int, error) {
	return door.OpenAt(dir, name, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT|unix.O_EXCL)
}

// writeFiles writes files into a fresh directory.
func writeFiles(dir string, files []File) error {
	d, err := door.OpenReal(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for _, f := range files {
		if above := path.Dir(f.Name); above != "." {
			made, err := d.Make(above)
			if err != nil {
				return err
			}
			made.Close()
		}
		w, err := d.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		if err == nil {
			_, err = w.Write(f.Content)
			err = errors.Join(err, w.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A study's directory can be copied, moved, restored from a backup, and seen under other names by a
// bind mount. What runs belongs to the directory that it was started in: the nonce tells equal
// attempts of two copies apart, and a record says which file it is, so a copy knows that it is one.

// marker is the word in the environment of every process of the attempt.
func (a *attempt) marker() string { return a.job.ID + "/" + a.nonce }

// fileID names a file on this machine, as long as it is mounted.
type fileID struct{ device, inode uint64 }

func fileIDOf(st *unix.Stat_t) fileID { return fileID{uint64(st.Dev), st.Ino} }

func identify(fd int) (fileID, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return fileIDOf(&st), err
}

// native reports whether the attempt was started in this directory, wherever that is now. A device's
// number outlives no boot and, on a network, no mount: who holds the record's lock proves as much.
func (a *attempt) native(rec record) bool {
	self, err := identify(a.record)
	return err == nil && self.inode == rec.Inode && (self.device == rec.Device || !rec.here()) || a.locked()
}

// openLock returns a new descriptor of the record, locked. All that the supervisor starts inherits it,
// and the lock lasts as long as they: no pid can be mistaken, and no /proc is needed to ask.
func (a *attempt) openLock() (int, error) {
	fd, err := door.OpenAt(a.dir, recordName, unix.O_RDONLY)
	if err == nil {
		_ = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) // where locks are not supported the marker must do
	}
	return fd, err
}

// locked reports whether a process of the attempt holds the lock.
func (a *attempt) locked() bool {
	fd, err := door.OpenAt(a.dir, recordName, unix.O_RDONLY)
	if err != nil {
		return false
	}
	defer unix.Close(fd) // and with it, the lock
	return unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) == unix.EWOULDBLOCK
}

// noteFullDisk reports whether the disk is full now that the command has ended, and writes it down.
func (a *attempt) noteFullDisk(code int) bool {
	if !door.Full(a.dir, code != 0) {
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
	if record, err := door.OpenAt(d, recordName, unix.O_WRONLY|unix.O_APPEND); err == nil {
		_ = appendEntry(record, entry{Full: true})
		unix.Close(record)
	}
}

// Claim creates a directory, and missing parents, with the owner's rights alone. Of
// several claimants exactly one succeeds; the others get ErrClaimed.
func Claim(dir string) error {
	err := door.Mkdir(dir)
	if errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("%s: %w", dir, ErrClaimed)
	}
	return err
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
	if a.cutShort(rec) {
		return Exit{}, errCutShort
	}
	a.counted = a.countAt(rec)
	return a.harvest(rec)
}

// A Sight is what one sees of an attempt from afar.
type Sight struct {
	PID     int       // of its supervisor, 0 if that is not known
	Started time.Time // zero if it is not known
	Ended   bool      // its command has
	Alive   bool      // a process of it lives on this machine
}

// Look says what is known of the attempt in a directory.
func Look(dir string) (s Sight, err error) {
	fd, err := openDir(dir)
	if err != nil {
		return s, err
	}
	defer unix.Close(fd)
	file, err := door.OpenAt(fd, recordName, unix.O_RDONLY)
	if err != nil {
		return s, err
	}
	defer unix.Close(file)
	rec, err := readRecord(file, 0)
	if rec.Started != nil {
		s.Started = *rec.Started
	}
	if self, no := identify(file); no == nil && self.inode == rec.Inode {
		s.PID = rec.PID // and not that of what a copy was made of
		a := &attempt{job: Job{ID: rec.ID}, nonce: rec.Nonce, dir: fd, child: child{pid: rec.PID}}
		_, lives := a.supervisor()
		s.Alive = rec.PID != 0 && rec.here() && (lives || a.locked())
	}
	s.Ended = rec.Exit != nil
	return s, err
}
