//go:build linux

package torture_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A cutDisk is a file system in user space that can be looked at as it might be
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
//
// Its methods may be called while it is mounted.
type cutDisk struct {
	mu    sync.Mutex
	first map[uint64]*inode // as it was at first
	now   map[uint64]*inode
	next  uint64 // number of the next inode
	ops   []op
}

const rootNumber = 1

// An inode is a file, a directory or a symbolic link. Its content is never changed in
// place, so that copies of an inode may share it.
type inode struct {
	mode    uint32 // with the type
	changed time.Time
	data    []byte            // of a file, or the target of a link
	names   map[string]uint64 // of a directory
}

func (n *inode) clone() *inode {
	c := *n
	c.names = maps.Clone(n.names)
	return &c
}

// An op is one change of a cutDisk, or a promise to keep it.
type op struct {
	kind kind
	node uint64 // what was changed, or got or lost a name

	at    int64 // write: the offset; truncate: the size
	bytes []byte

	from, to entry  // link: to; unlink: from; rename: both
	mode     uint32 // create, chmod
	when     time.Time
}

type kind int

const (
	create kind = iota // an inode without a name
	chmod
	write
	truncate
	fsync
	sync2 // of everything
	link
	unlink
	rename
)

// entry is a name in a directory.
type entry struct {
	dir  uint64
	name string
}

// newDisk returns an empty cutDisk.
func newDisk() *cutDisk {
	root := &inode{mode: syscall.S_IFDIR | 0o755, names: map[string]uint64{}, changed: time.Now()}
	return boot(map[uint64]*inode{rootNumber: root}, rootNumber+1)
}

// boot returns a cutDisk on which everything of nodes is safe.
func boot(nodes map[uint64]*inode, next uint64) *cutDisk {
	return &cutDisk{first: copied(nodes), now: nodes, next: next}
}

func copied(nodes map[uint64]*inode) map[uint64]*inode {
	c := make(map[uint64]*inode, len(nodes))
	for i, n := range nodes {
		c[i] = n.clone()
	}
	return c
}

// Len returns the number of operations so far.
func (d *cutDisk) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.ops)
}

// Put makes a file in the root that is safe.
func (d *cutDisk) Put(name, content string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := &inode{mode: syscall.S_IFREG | 0o644, data: []byte(content), changed: time.Now()}
	d.now[d.next], d.first[d.next] = n, n.clone()
	d.now[rootNumber].names[name], d.first[rootNumber].names[name] = d.next, d.next
	d.next++
}

// do makes a change and remembers it.
func (d *cutDisk) do(o op) {
	o.when = time.Now()
	d.ops = append(d.ops, o)
	apply(d.now, o)
}

// apply makes a change of nodes. One that needs a directory that is not there is none.
func apply(nodes map[uint64]*inode, o op) {
	switch o.kind {
	case create:
		n := &inode{mode: o.mode, data: o.bytes, changed: o.when}
		if o.mode&syscall.S_IFMT == syscall.S_IFDIR {
			n.names = map[string]uint64{}
		}
		nodes[o.node] = n
	case chmod:
		n := nodes[o.node]
		n.mode = n.mode&syscall.S_IFMT | o.mode
	case write, truncate:
		n := nodes[o.node]
		n.data, n.changed = changed(n.data, o), o.when
	case link:
		name(nodes, o.to, o.node)
	case unlink:
		unname(nodes, o.from)
	case rename:
		unname(nodes, o.from)
		name(nodes, o.to, o.node)
	}
}

// changed returns the content of a file after a write or a truncation.
func changed(data []byte, o op) []byte {
	if o.kind == truncate {
		return sized(data, o.at)
	}
	end := o.at + int64(len(o.bytes))
	if o.at == int64(len(data)) {
		// Copies that share these bytes end where theirs end, and grow in turn into
		// bytes of their own.
		return append(slices.Clip(data), o.bytes...)
	}
	data = sized(data, max(end, int64(len(data))))
	copy(data[o.at:], o.bytes)
	return data
}

// sized returns a copy of data with a length of n, zeros added as needed.
func sized(data []byte, n int64) []byte {
	c := make([]byte, n)
	copy(c, data)
	return c
}

func name(nodes map[uint64]*inode, e entry, node uint64) {
	if dir := nodes[e.dir]; dir != nil {
		dir.names[e.name] = node
	}
}

func unname(nodes map[uint64]*inode, e entry) {
	if dir := nodes[e.dir]; dir != nil {
		delete(dir.names, e.name)
	}
}

// Read returns what a program would have read from a file after the first n operations.
// The path is a list of names.
func (d *cutDisk) Read(n int, path ...string) ([]byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	nodes := d.now
	if n < len(d.ops) {
		nodes = copied(d.first)
		for _, o := range d.ops[:n] {
			apply(nodes, o)
		}
	}
	at := uint64(rootNumber)
	for _, name := range path {
		next, ok := nodes[at].names[name]
		if !ok {
			return nil, false
		}
		at = next
	}
	return nodes[at].data, true
}

// Save writes all files to a directory, for a look at them from within this process.
func (d *cutDisk) Save(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return save(d.now, rootNumber, dir)
}

func save(nodes map[uint64]*inode, number uint64, path string) error {
	switch n := nodes[number]; n.mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		return os.Symlink(string(n.data), path)
	case syscall.S_IFDIR:
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		for name, next := range n.names {
			if err := save(nodes, next, filepath.Join(path, name)); err != nil {
				return err
			}
		}
		return nil
	default:
		return os.WriteFile(path, n.data, 0o600)
	}
}
