package faultfs

import (
	"io"
	"io/fs"

	"github.com/lbotune/lbotune/journal"
)

// A file is an open file. Like the journal, it writes at the end alone.
type file struct {
	fs   *FS
	path string
	node *inode
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if off >= int64(len(f.node.live)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.live[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
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
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.fs.failure("truncate", f.path); err != nil {
		return err
	}
	f.node.change(change{at: int(size), trunc: true})
	return nil
}

func (n *inode) change(c change) {
	n.live = c.apply(n.live)
	n.pending = append(n.pending, c)
}

func (f *file) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
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
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if len(f.node.pending) == 0 { // what is dirty stays
		f.node.live = resize(f.node.disk, len(f.node.live))
	}
}

func (f *file) Chmod(mode fs.FileMode) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.fs.failure("chmod", f.path); err != nil {
		return err
	}
	f.node.mode = mode
	return nil
}

func (f *file) Stat() (journal.Info, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.node.info(), nil
}

func (f *file) TryLock() (bool, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.node.locked != nil {
		return f.node.locked == f, nil
	}
	f.node.locked = f
	return true, nil
}

func (f *file) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.node.locked == f {
		f.node.locked = nil
	}
	return nil
}
