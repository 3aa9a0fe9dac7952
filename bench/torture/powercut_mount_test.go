//go:build linux

package torture_test

import (
	"context"
	"maps"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// syncName is a file in the root. To write to it is sync(2), of which the kernel says nothing
// to file systems in user space.
const syncName = ".sync"

// Mount shows the cutDisk in a directory until unmount is called. Only other processes may
// use it: this one could wait for itself.
func (d *cutDisk) Mount(dir string) (unmount func() error, err error) {
	server, err := fs.Mount(dir, &node{disk: d, number: rootNumber}, &fs.Options{
		MountOptions: fuse.MountOptions{FsName: "powercut", DirectMount: true, DisableXAttrs: true},
		// Inodes keep their numbers over a cut, as on a real disk.
		RootStableAttr:  &fs.StableAttr{Ino: rootNumber},
		NullPermissions: true,
	})
	if err != nil {
		return nil, err
	}
	return server.Unmount, nil
}

// A node is what the kernel knows of an inode.
type node struct {
	fs.Inode
	disk   *cutDisk
	number uint64
}

var (
	_ fs.NodeLookuper   = (*node)(nil)
	_ fs.NodeGetattrer  = (*node)(nil)
	_ fs.NodeSetattrer  = (*node)(nil)
	_ fs.NodeReaddirer  = (*node)(nil)
	_ fs.NodeCreater    = (*node)(nil)
	_ fs.NodeMkdirer    = (*node)(nil)
	_ fs.NodeSymlinker  = (*node)(nil)
	_ fs.NodeReadlinker = (*node)(nil)
	_ fs.NodeLinker     = (*node)(nil)
	_ fs.NodeUnlinker   = (*node)(nil)
	_ fs.NodeRmdirer    = (*node)(nil)
	_ fs.NodeRenamer    = (*node)(nil)
	_ fs.NodeOpener     = (*node)(nil)
	_ fs.NodeReader     = (*node)(nil)
	_ fs.NodeWriter     = (*node)(nil)
	_ fs.NodeFsyncer    = (*node)(nil)
	_ fs.NodeStatfser   = (*node)(nil)
)

// inode is what the cutDisk knows of the node. The cutDisk is locked.
func (n *node) inode() *inode { return n.disk.now[n.number] }

// child makes a node of a directory's entry. The cutDisk is locked.
func (n *node) child(ctx context.Context, number uint64, out *fuse.EntryOut) *fs.Inode {
	it := n.disk.now[number]
	n.disk.attributes(number, &out.Attr)
	return n.NewInode(ctx, &node{disk: n.disk, number: number}, fs.StableAttr{Mode: it.mode & syscall.S_IFMT, Ino: number})
}

func (d *cutDisk) attributes(number uint64, out *fuse.Attr) {
	it := d.now[number]
	out.Ino, out.Mode, out.Nlink = number, it.mode, 1
	out.Size, out.Blocks, out.Blksize = uint64(len(it.data)), uint64(len(it.data)+511)/512, 4096
	out.SetTimes(&it.changed, &it.changed, &it.changed)
}

// add makes an inode and gives it a name.
func (n *node) add(ctx context.Context, name string, mode uint32, data []byte, out *fuse.EntryOut) *fs.Inode {
	d := n.disk
	number := d.next
	d.next++
	d.do(op{kind: create, node: number, mode: mode, bytes: data})
	d.do(op{kind: link, node: number, to: entry{n.number, name}})
	return n.child(ctx, number, out)
}

// Lookup implements fs.NodeLookuper.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	number, ok := n.inode().names[name]
	if !ok {
		return nil, syscall.ENOENT
	}
	return n.child(ctx, number, out), 0
}

// Getattr implements fs.NodeGetattrer.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.disk.attributes(n.number, &out.Attr)
	return 0
}

// Setattr implements fs.NodeSetattrer.
func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if mode, ok := in.GetMode(); ok {
		n.disk.do(op{kind: chmod, node: n.number, mode: mode &^ syscall.S_IFMT})
	}
	if size, ok := in.GetSize(); ok {
		n.disk.do(op{kind: truncate, node: n.number, at: int64(size)})
	}
	n.disk.attributes(n.number, &out.Attr)
	return 0
}

// Readdir implements fs.NodeReaddirer.
func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	var list []fuse.DirEntry
	names := n.inode().names
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, fuse.DirEntry{Name: name, Ino: names[name], Mode: n.disk.now[names[name]].mode})
	}
	return fs.NewListDirStream(list), 0
}

// Create implements fs.NodeCreater.
func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	return n.add(ctx, name, syscall.S_IFREG|mode, nil, out), nil, 0, 0
}

// Mkdir implements fs.NodeMkdirer.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	return n.add(ctx, name, syscall.S_IFDIR|mode, nil, out), 0
}

// Symlink implements fs.NodeSymlinker.
func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	return n.add(ctx, name, syscall.S_IFLNK|0o777, []byte(target), out), 0
}

// Readlink implements fs.NodeReadlinker.
func (n *node) Readlink(context.Context) ([]byte, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	return n.inode().data, 0
}

// Link implements fs.NodeLinker.
func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	number := target.(*node).number
	n.disk.do(op{kind: link, node: number, to: entry{n.number, name}})
	return n.child(ctx, number, out), 0
}

// Unlink implements fs.NodeUnlinker.
func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.disk.do(op{kind: unlink, node: n.inode().names[name], from: entry{n.number, name}})
	return 0
}

// Rmdir implements fs.NodeRmdirer.
func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	n.disk.mu.Lock()
	full := len(n.disk.now[n.inode().names[name]].names) > 0
	n.disk.mu.Unlock()
	if full {
		return syscall.ENOTEMPTY
	}
	return n.Unlink(ctx, name)
}

// Rename implements fs.NodeRenamer.
func (n *node) Rename(_ context.Context, name string, newParent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if flags != 0 {
		return syscall.EINVAL
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	to := entry{newParent.(*node).number, newName}
	n.disk.do(op{kind: rename, node: n.inode().names[name], from: entry{n.number, name}, to: to})
	return 0
}

// Open implements fs.NodeOpener.
func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) { return nil, 0, 0 }

// Read implements fs.NodeReader.
func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	data := n.inode().data
	from := min(off, int64(len(data)))
	return fuse.ReadResultData(data[from:min(from+int64(len(dest)), int64(len(data)))]), 0
}

// Write implements fs.NodeWriter.
func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if n.number == n.disk.now[rootNumber].names[syncName] {
		n.disk.do(op{kind: sync2})
		return uint32(len(data)), 0
	}
	n.disk.do(op{kind: write, node: n.number, at: off, bytes: slices.Clone(data)})
	return uint32(len(data)), 0
}

// Fsync implements fs.NodeFsyncer, for directories too.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.disk.do(op{kind: fsync, node: n.number})
	return 0
}

// Statfs implements fs.NodeStatfser: there is room.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Blocks, out.Bfree, out.Bavail, out.Bsize, out.NameLen = 1<<30, 1<<30, 1<<30, 4096, 255
	return 0
}
