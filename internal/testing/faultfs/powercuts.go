package faultfs

import (
	"iter"
	"maps"
)

// PowerCuts returns every state in which a power cut may leave the disk: with the names that are on disk
// and with the live ones; and for each file of which tear reports true, with any number of its operations
// done that were not synced, and the last write cut at any byte or filled with zeros, while the other files
// have lost either all of theirs or none. f must not be used meanwhile.
func (f *FS) PowerCuts(tear func(path string) bool) iter.Seq[*FS] {
	onDisk := func(n *inode) []byte { return n.disk }
	names := []map[string]*inode{f.disk}
	if !maps.Equal(f.disk, f.live) {
		names = append(names, f.live)
	}
	return func(yield func(*FS) bool) {
		for _, entries := range names {
			for _, others := range []func(*inode) []byte{onDisk, synced} {
				if !yield(reborn(entries, others)) {
					return
				}
				for path, torn := range entries {
					if !tear(path) {
						continue
					}
					for content := range torn.between() {
						state := reborn(entries, func(n *inode) []byte {
							if n == torn {
								return content
							}
							return others(n)
						})
						if !yield(state) {
							return
						}
					}
				}
			}
		}
	}
}

func reborn(entries map[string]*inode, content func(*inode) []byte) *FS {
	after := New()
	for path, node := range entries {
		after.Put(path, content(node))
	}
	return after
}

// synced returns what a sync would put on disk.
func synced(n *inode) []byte {
	content := n.disk
	for _, c := range n.pending {
		content = c.apply(content)
	}
	return content
}

// between returns the contents that syncing may pass through.
func (n *inode) between() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		content := n.disk
		for _, c := range n.pending {
			whole := c.apply(content)
			for k := range c.data {
				cut := whole[: c.at+k : c.at+k]
				if !yield(cut) || !yield(resize(cut, len(whole))) {
					return
				}
			}
			content = whole
			if !yield(content) {
				return
			}
		}
	}
}
