// Package faultfs is a file system in memory for tests of what keeps a journal. Any
// of its operations can be made to fail, once or from then on, and the disk can be
// looked at as it might be after a power cut.
//
// It keeps two states. What programs see is the live one. What is on disk follows
// at Sync and SyncDir: a write or a truncation reaches the disk when its file is
// synced, and a new, renamed or removed name when its directory is. A power cut may
// let through any number of the operations that were not synced, in their order,
// and cut the last write at any byte. A Sync that fails loses what it should have
// written, and a later one that succeeds does not bring it back, as on Linux; until Forget it
// can still be read.
package faultfs
