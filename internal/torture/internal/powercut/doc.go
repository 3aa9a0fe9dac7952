// Package powercut is a file system in user space that can be looked at as it might be
// after a power cut. It keeps what programs do to it as a list of operations; Cut makes
// another file system of the first n of them, as a disk may have kept them:
//
//   - What was written to a file is there once fsync of that file has returned. Of what
//     was written since, any blocks may be there and others not; a block that is missing
//     has its bytes from before, or zeros, and the size may be ahead of the data.
//   - A new, renamed or removed name is there once fsync of its directory has returned,
//     or, for the name of a new file on a file system like ext4, fsync of that file. Of
//     later changes any may be there and others not, but those of one name in their order,
//     and a rename wholly or not at all.
//   - Modes, times and the targets of symbolic links are always there.
package powercut
