package faultfs

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/lbotune/lbotune/journal"
)

// A Fault makes operations of an FS fail.
type Fault struct {
	N       int             // the first to fail, counted from 1 among those in question
	Forever bool            // and all that follow; else only that one
	Only    func(Op) bool   // those in question; nil: all
	Err     error           // what they return
	Partial func(n int) int // how much of a write of n bytes is written before it fails; nil: nothing
	// Dead says that who asks for the operations is dead: they do nothing. A Sync loses
	// nothing then.
	Dead bool
}

// An Op is an operation that changes something.
type Op struct {
	Name string // "create", "write", "sync", "truncate", "chmod", "rename", "remove" or "syncdir"
	Path string
}

// An FS is a journal.FS in memory. All its directories exist. It may be used by
// several goroutines.
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
	mode    fs.FileMode
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
	case c.trunc && c.at <= len(content):
		return slices.Clip(content[:c.at])
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

// New returns an FS without files.
func New() *FS {
	return &FS{live: map[string]*inode{}, disk: map[string]*inode{}}
}

// Put makes a file that is on disk.
func (f *FS) Put(path string, content []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	node := f.newInode(0o600)
	node.live, node.disk = slices.Clip(content), slices.Clip(content)
	f.live[path], f.disk[path] = node, node
}

// Content returns the live content of a file, or nil if there is none.
func (f *FS) Content(path string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if node := f.live[path]; node != nil {
		return resize(node.live, len(node.live))
	}
	return nil
}

// Files returns the live content of all files.
func (f *FS) Files() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	files := map[string][]byte{}
	for path, node := range f.live {
		files[path] = node.live
	}
	return files
}

// Inject replaces the fault, and counts operations anew. The zero Fault is none.
func (f *FS) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.count, f.fired = fault, 0, false
}

// Fired reports whether an operation has failed since Inject.
func (f *FS) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// Kill returns the files as another process finds them when all that had any open
// are dead: the locks are free, and what was not synced still is not on disk.
func (f *FS) Kill() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	after := New()
	copies := map[*inode]*inode{}
	for _, entries := range []map[string]*inode{f.disk, f.live} {
		for _, node := range entries {
			after.inodes++
			copies[node] = &inode{
				number: after.inodes, mode: node.mode,
				live: slices.Clip(node.live), disk: slices.Clip(node.disk), pending: slices.Clip(node.pending),
			}
		}
	}
	for path, node := range f.disk {
		after.disk[path] = copies[node]
	}
	for path, node := range f.live {
		after.live[path] = copies[node]
	}
	return after
}

func (f *FS) reborn(entries map[string]*inode, content func(*inode) []byte) *FS {
	after := New()
	for path, node := range entries {
		after.Put(path, content(node))
	}
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

func (f *FS) newInode(mode fs.FileMode) *inode {
	f.inodes++
	return &inode{number: f.inodes, mode: mode}
}

// Resolve implements journal.FS. There are no links.
func (f *FS) Resolve(path string) (string, error) { return filepath.Clean(path), nil }

// OpenFile implements journal.FS.
func (f *FS) OpenFile(path string, flag int, perm fs.FileMode) (journal.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
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
		node = f.newInode(perm)
		f.live[path] = node
	}
	return &file{fs: f, path: path, node: node}, nil
}

// Stat implements journal.FS.
func (f *FS) Stat(path string) (journal.Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if node := f.live[path]; node != nil {
		return node.info(), nil
	}
	return journal.Info{}, missing("stat", path)
}

// Rename implements journal.FS.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[from] == nil {
		return missing("rename", from)
	}
	if err := f.failure("rename", from); err != nil {
		return err
	}
	f.live[to] = f.live[from]
	delete(f.live, from)
	return nil
}

// Remove implements journal.FS.
func (f *FS) Remove(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[path] == nil {
		return missing("remove", path)
	}
	if err := f.failure("remove", path); err != nil {
		return err
	}
	delete(f.live, path)
	return nil
}

// SyncDir implements journal.FS.
func (f *FS) SyncDir(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
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
	return journal.Info{Size: int64(len(n.live)), Ino: n.number, Mode: n.mode}
}
