//go:build linux

package torture_test

import (
	"math/rand/v2"
	"slices"
)

// Cut returns the cutDisk as a power cut after its first n operations may have left it.
func (d *cutDisk) Cut(n int, r *rand.Rand) *cutDisk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &cut{ops: d.ops[:n], first: d.first, r: r, synced: map[uint64]int{}}
	for i, o := range c.ops {
		switch o.kind {
		case fsync:
			c.synced[o.node] = i
		case sync2:
			c.all = i
		}
	}
	return boot(c.nodes(), d.next)
}

// A cut is the loss of power after ops.
type cut struct {
	ops    []op
	first  map[uint64]*inode
	r      *rand.Rand
	synced map[uint64]int // which op was the last sync of an inode
	all    int            // which op was the last sync of everything
}

// safe reports whether an inode was synced after the operation i.
func (c *cut) safe(node uint64, i int) bool { return max(c.synced[node], c.all) > i }

// nodes returns what is left: the names that are, and what they name.
func (c *cut) nodes() map[uint64]*inode {
	nodes := copied(c.first)
	for _, o := range c.ops {
		if o.kind == create || o.kind == chmod {
			apply(nodes, o)
		}
	}
	for _, i := range c.names() {
		apply(nodes, c.ops[i])
	}
	c.contents(nodes)
	kept := map[uint64]*inode{}
	reach(nodes, kept, rootNumber)
	return kept
}

// reach copies what has a name.
func reach(nodes, kept map[uint64]*inode, at uint64) {
	kept[at] = nodes[at]
	for _, next := range nodes[at].names {
		reach(nodes, kept, next)
	}
}

// names returns the operations on names that are on the disk.
func (c *cut) names() []int {
	var changes []int
	for i, o := range c.ops {
		if o.kind >= link {
			changes = append(changes, i)
		}
	}
	if c.r.IntN(2) == 0 {
		return c.journaled(changes)
	}
	return c.loose(changes, c.r.IntN(2) == 0)
}

// journaled chooses as a file system does whose names have one journal: every sync saves
// all that happened before, and the rest is there in its order up to some point.
func (c *cut) journaled(changes []int) []int {
	last := c.all
	for _, i := range c.synced {
		last = max(last, i)
	}
	safe, _ := slices.BinarySearch(changes, last)
	return changes[:safe+c.r.IntN(len(changes)-safe+1)]
}

// loose chooses as nothing but POSIX demands: each directory, and each name, on its own.
// With files, the sync of a new file saves its name as well.
func (c *cut) loose(changes []int, files bool) (kept []int) {
	safe := map[int]bool{}
	needed := map[entry]bool{} // names of which an earlier change must be there
	for _, i := range slices.Backward(changes) {
		o := c.ops[i]
		names := o.names()
		for _, e := range names {
			if c.safe(e.dir, i) || needed[e] {
				safe[i] = true
			}
		}
		if files && o.kind == link && c.safe(o.node, i) {
			safe[i] = true
		}
		if safe[i] {
			for _, e := range names {
				needed[e] = true
			}
		}
	}
	often := c.r.Float64()
	missing := map[entry]bool{}
	for _, i := range changes {
		names := c.ops[i].names()
		gone := slices.ContainsFunc(names, func(e entry) bool { return missing[e] })
		if safe[i] || !gone && c.r.Float64() < often {
			kept = append(kept, i)
			continue
		}
		for _, e := range names {
			missing[e] = true
		}
	}
	return kept
}

// names are those that an operation changes.
func (o op) names() []entry {
	switch o.kind {
	case link:
		return []entry{o.to}
	case unlink:
		return []entry{o.from}
	}
	return []entry{o.from, o.to}
}

// contents gives each file what is left of it.
func (c *cut) contents(nodes map[uint64]*inode) {
	pending := map[uint64][]op{}
	for i, o := range c.ops {
		switch {
		case o.kind != write && o.kind != truncate:
		case c.safe(o.node, i):
			apply(nodes, o)
		default:
			pending[o.node] = append(pending[o.node], o)
		}
	}
	// All files of one cut fare alike: a disk has one way of writing.
	lost := []func([]byte, []op) []byte{c.nothing, c.everything, c.inOrder, c.blocks, c.blocks}[c.r.IntN(5)]
	for _, o := range c.ops { // in the order of their making, for the sake of the seed
		if changes := pending[o.node]; changes != nil {
			n := nodes[o.node]
			n.data, n.changed = lost(n.data, changes), changes[len(changes)-1].when
			delete(pending, o.node)
		}
	}
}

func (c *cut) nothing(data []byte, _ []op) []byte { return data }

func (c *cut) everything(data []byte, changes []op) []byte {
	for _, o := range changes {
		data = changed(data, o)
	}
	return data
}

// inOrder keeps some of the changes, and the beginning of the next if it is a write.
func (c *cut) inOrder(data []byte, changes []op) []byte {
	k := c.r.IntN(len(changes) + 1)
	data = c.everything(data, changes[:k])
	if k < len(changes) && changes[k].kind == write {
		part := changes[k]
		part.bytes = part.bytes[:c.r.IntN(len(part.bytes)+1)]
		data = changed(data, part)
	}
	return data
}

// blocks keeps of each block what it had after some of the changes, and of the size too.
func (c *cut) blocks(data []byte, changes []op) []byte {
	versions := [][]byte{data}
	for _, o := range changes {
		versions = append(versions, changed(versions[len(versions)-1], o))
	}
	pick := func() []byte { return versions[c.r.IntN(len(versions))] }
	out := make([]byte, len(pick()))
	block := []int{512, 4096}[c.r.IntN(2)]
	for at := 0; at < len(out); at += block {
		if v := pick(); at < len(v) {
			copy(out[at:min(at+block, len(out))], v[at:])
		}
	}
	return out
}
