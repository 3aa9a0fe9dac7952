// Package faultfs is a file system in memory for tests of what keeps a journal. Any of its operations
// can be made to fail, and the disk can be looked at as it might be after a power cut.
//
// It keeps two states: the live one, which programs see, and that on disk. A write or a truncation
// reaches the disk when its file is synced, a new, renamed or removed name when its directory is. A
// power cut may let through any number of the operations that were not synced, in their order, and cut
// the last write at any byte. A Sync that fails loses what it should have written, and a later one does
// not bring it back, as on Linux; until Forget it can still be read.
package faultfs

import (
	"bytes"
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/lbotune/lbotune/internal/journal"
)

// A Fault makes operations of an FS fail.
type Fault struct {
	N       int             // the first to fail, counted from 1 among those in question
	Forever bool            // and all that follow; else only that one
	Only    func(Op) bool   // those in question; nil: all
	Err     error           // what they return
	Partial func(n int) int // how much of a write of n bytes is written before it fails; nil: nothing
	// Dead says that who asks is dead: the operations do nothing, and a Sync loses nothing.
	Dead bool
}

// An Op is an operation that changes something.
type Op struct {
	Name string // "create", "write", "sync", "truncate", "chmod", "rename", "remove" or "syncdir"
	Path string
}

// An FS is a journal.FS in memory, for several goroutines. All its directories exist.
type FS struct {
	mu     sync.Mutex
	live   map[string]*inode // by path
	disk   map[string]*inode // of which the entries are on disk
	inodes uint64
	fault  Fault
	count  int
	fired  bool
}

// An inode is the content of a file.
type inode struct {
	number  uint64
	live    []byte
	disk    []byte
	pending []change // from disk to live
	locked  *file
}

// A change is a write of data at an offset, or a truncation to it.
type change struct {
	at    int
	data  []byte
	trunc bool
}

// apply returns content after the change. What shares its bytes keeps them: only an
// append writes behind their end, and only if no truncation has been there.
func (c change) apply(content []byte) []byte {
	switch {
	case c.trunc:
		return resize(content, c.at)
	case c.at == len(content):
		return append(content, c.data...)
	}
	content = resize(content, max(len(content), c.at+len(c.data)))
	copy(content[c.at:], c.data)
	return content
}

// resize returns a copy of content with a length of n, zero bytes added as needed.
func resize(content []byte, n int) []byte {
	resized := make([]byte, n)
	copy(resized, content)
	return resized
}

// lock keeps others out until the function that it returns is called.
func (f *FS) lock() (unlock func()) {
	f.mu.Lock()
	return f.mu.Unlock
}

// New returns an FS without files.
func New() *FS {
	return &FS{live: map[string]*inode{}, disk: map[string]*inode{}}
}

// Put makes a file that is on disk.
func (f *FS) Put(path string, content []byte) {
	defer f.lock()()
	node := f.newInode(slices.Clip(content), slices.Clip(content))
	f.live[path], f.disk[path] = node, node
}

// Content returns the live content of a file, or nil if there is none.
func (f *FS) Content(path string) []byte {
	defer f.lock()()
	if node := f.live[path]; node != nil {
		return resize(node.live, len(node.live))
	}
	return nil
}

// Files returns the live content of all files.
func (f *FS) Files() map[string][]byte {
	defer f.lock()()
	files := map[string][]byte{}
	for path, node := range f.live {
		files[path] = node.live
	}
	return files
}

// Inject replaces the fault, and counts operations anew. The zero Fault is none.
func (f *FS) Inject(fault Fault) {
	defer f.lock()()
	f.fault, f.count, f.fired = fault, 0, false
}

// Fired reports whether an operation has failed since Inject.
func (f *FS) Fired() bool {
	defer f.lock()()
	return f.fired
}

// Kill returns the files when all that had any open are dead: locks are free, nothing more is on disk.
func (f *FS) Kill() *FS {
	defer f.lock()()
	after := New()
	copies := map[*inode]*inode{}
	copied := func(nodes, to map[string]*inode) {
		for path, node := range nodes {
			if copies[node] == nil {
				copies[node] = after.newInode(slices.Clip(node.live), slices.Clip(node.disk))
				copies[node].pending = slices.Clip(node.pending)
			}
			to[path] = copies[node]
		}
	}
	copied(f.disk, after.disk)
	copied(f.live, after.live)
	return after
}

// failure counts an operation and returns the error that it must fail with.
func (f *FS) failure(name, path string) error {
	if f.fault.Err == nil || f.fault.Only != nil && !f.fault.Only(Op{name, path}) {
		return nil
	}
	f.count++
	if f.count == f.fault.N || f.fault.Forever && f.count > f.fault.N {
		f.fired = true
		return &fs.PathError{Op: name, Path: path, Err: f.fault.Err}
	}
	return nil
}

func (f *FS) newInode(live, disk []byte) *inode {
	f.inodes++
	return &inode{number: f.inodes, live: live, disk: disk}
}

// Resolve implements journal.FS. There are no links.
func (f *FS) Resolve(path string) (string, error) { return filepath.Clean(path), nil }

// OpenFile implements journal.FS.
func (f *FS) OpenFile(path string, flag int) (journal.File, error) {
	defer f.lock()()
	node := f.live[path]
	switch {
	case node == nil && flag&os.O_CREATE == 0:
		return nil, missing("open", path)
	case node != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	case node == nil:
		if err := f.failure("create", path); err != nil {
			return nil, err
		}
		node = f.newInode(nil, nil)
		f.live[path] = node
		if err := f.failure("chmod", path); err != nil { // of the mode that the umask has left
			return nil, err
		}
	}
	return &file{fs: f, path: path, node: node}, nil
}

// Stat implements journal.FS.
func (f *FS) Stat(path string) (journal.Info, error) {
	defer f.lock()()
	if node := f.live[path]; node != nil {
		return node.info(), nil
	}
	return journal.Info{}, missing("stat", path)
}

// Rename implements journal.FS.
func (f *FS) Rename(from, to string) error {
	return f.unlink("rename", from, func(node *inode) { f.live[to] = node })
}

// Remove implements journal.FS.
func (f *FS) Remove(path string) error { return f.unlink("remove", path, func(*inode) {}) }

// unlink takes a name away from a file that is there, after do with it.
func (f *FS) unlink(op, path string, do func(*inode)) error {
	defer f.lock()()
	node := f.live[path]
	if node == nil {
		return missing(op, path)
	}
	err := f.failure(op, path)
	if err == nil {
		do(node)
		delete(f.live, path)
	}
	return err
}

// SyncDir implements journal.FS.
func (f *FS) SyncDir(dir string) error {
	defer f.lock()()
	if err := f.failure("syncdir", dir); err != nil {
		return err
	}
	inside := func(path string, _ *inode) bool { return filepath.Dir(path) == filepath.Clean(dir) }
	maps.DeleteFunc(f.disk, inside)
	for path, node := range f.live {
		if inside(path, node) {
			f.disk[path] = node
		}
	}
	return nil
}

func missing(op, path string) error {
	return &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist}
}

func (n *inode) info() journal.Info {
	return journal.Info{Size: int64(len(n.live)), Ino: n.number, Mode: 0o600}
}

// A file is an open file. Like the journal, it writes at the end alone.
type file struct {
	fs   *FS
	path string
	node *inode
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	defer f.fs.lock()()
	return bytes.NewReader(f.node.live).ReadAt(p, off)
}

func (f *file) Write(p []byte) (int, error) {
	defer f.fs.lock()()
	n := len(p)
	err := f.fs.failure("write", f.path)
	if err != nil {
		n = 0
		if partial := f.fs.fault.Partial; partial != nil {
			n = partial(len(p))
		}
	}
	f.node.change(change{at: len(f.node.live), data: append([]byte(nil), p[:n]...)})
	return n, err
}

func (f *file) Truncate(size int64) error {
	defer f.fs.lock()()
	err := f.fs.failure("truncate", f.path)
	if err == nil {
		f.node.change(change{at: int(size), trunc: true})
	}
	return err
}

func (n *inode) change(c change) {
	n.live = c.apply(n.live)
	n.pending = append(n.pending, c)
}

func (f *file) Sync() error {
	defer f.fs.lock()()
	err := f.fs.failure("sync", f.path)
	switch {
	case err == nil:
		f.node.disk, f.node.pending = synced(f.node), nil
	case !f.fs.fault.Dead:
		f.node.pending = nil
	}
	return err
}

func (f *file) Forget() {
	defer f.fs.lock()()
	if len(f.node.pending) == 0 { // what is dirty stays
		f.node.live = resize(f.node.disk, len(f.node.live))
	}
}

func (f *file) Stat() (journal.Info, error) {
	defer f.fs.lock()()
	return f.node.info(), nil
}

func (f *file) TryLock() (bool, error) {
	defer f.fs.lock()()
	f.node.locked = cmp.Or(f.node.locked, f)
	return f.node.locked == f, nil
}

func (f *file) Close() error {
	defer f.fs.lock()()
	if f.node.locked == f {
		f.node.locked = nil
	}
	return nil
}
