package runner

import (
	"crypto/rand"
	"encoding/hex"

	"golang.org/x/sys/unix"
)

// A study's directory can be copied, moved, restored from a backup, and seen under other
// names by a bind mount. What runs belongs to the directory that it was started in, and
// not to a copy: each attempt has a nonce in its marker, so that equal attempts of two
// copies are told apart, and its record says which file it is, so that a copy of the record
// knows that it is one.

// newNonce makes the part of an attempt's marker that no other attempt has.
func newNonce() string {
	var nonce [8]byte
	rand.Read(nonce[:])
	return hex.EncodeToString(nonce[:])
}

// marker is the word in the environment of every process of the attempt.
func (a *attempt) marker() string { return a.job.ID + "/" + a.nonce }

// fileID names a file on this machine, as long as it is mounted.
type fileID struct{ device, inode uint64 }

func fileIDOf(st *unix.Stat_t) fileID {
	return fileID{uint64(st.Dev), st.Ino}
}

// identify names the file of a descriptor.
func identify(fd int) (fileID, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fileID{}, err
	}
	return fileIDOf(&st), nil
}

// native reports whether the attempt was started in this very directory, wherever that is
// now. The number of a device outlives neither a boot nor, on a network, a mount: a process
// that holds the lock of this record proves as much.
func (a *attempt) native(rec record, sameKernel bool) bool {
	self, err := identify(a.record)
	return err == nil && self.inode == rec.Inode && (self.device == rec.Device || !sameKernel) || a.locked()
}
