package logreg

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// DrawnData stands in place of a directory for digits that are drawn.
const DrawnData = "drawn"

// Load reads the four packed files of MNIST, or of a set like it, from a directory, or draws n
// digits. All images go into one set, because the published task splits the whole of it anew.
func Load(data string, n int) (*Set, error) {
	if data == DrawnData {
		if n == 0 {
			n = DefaultDrawn
		}
		return Drawn(n), nil
	}
	set := newSet(70_000)
	for _, half := range []string{"train", "t10k"} {
		images, err := readIDX(filepath.Join(data, half+"-images-idx3-ubyte.gz"), side, side)
		if err != nil {
			return nil, err
		}
		labels, err := readIDX(filepath.Join(data, half+"-labels-idx1-ubyte.gz"))
		if err != nil {
			return nil, err
		}
		if n := len(images) / (side * side); n != len(labels) {
			return nil, fmt.Errorf("%s has %d %s images but %d labels", data, n, half, len(labels))
		}
		for i, label := range labels {
			if label >= Classes {
				return nil, fmt.Errorf("%s: label %d of image %d (%s) is none of %d", data, label, i, half, Classes)
			}
			set.add(images[i*side*side:(i+1)*side*side], label)
		}
	}
	return set, nil
}

// readIDX reads a packed file of items with the given dimensions. The format has two zero bytes,
// 8 for unsigned bytes, the number of dimensions with that of the items, each of these as
// a big-endian uint32, and the data.
func readIDX(path string, item ...uint32) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	all, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	head := 4 * (2 + len(item))
	if len(all) < head || binary.BigEndian.Uint32(all) != 0x801+uint32(len(item)) {
		return nil, fmt.Errorf("%s does not begin as IDX data of %d dimensions does", path, 1+len(item))
	}
	size := uint64(binary.BigEndian.Uint32(all[4:]))
	for i, want := range item {
		if found := binary.BigEndian.Uint32(all[8+4*i:]); found != want {
			return nil, fmt.Errorf("%s: found %d as a dimension of an image, want %d", path, found, want)
		}
		size *= uint64(want)
	}
	if found := uint64(len(all) - head); found != size {
		return nil, fmt.Errorf("%s has %d bytes of data where its head promises %d", path, found, size)
	}
	return all[head:], nil
}
