package logreg

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// The IDX format of http://yann.lecun.com/exdb/mnist: two zero bytes, 8 for
// unsigned bytes, the number of dimensions, each dimension as a big-endian
// uint32, and the data.
const (
	imageMagic = 0x00000803
	labelMagic = 0x00000801
)

// ReadIDX reads the MNIST files in a directory, plain or with .gz:
// train-images-idx3-ubyte and train-labels-idx1-ubyte, then t10k-images-...
// and t10k-labels-... when they are there. All their images go into one set,
// because the published task splits the whole of it anew.
func ReadIDX(dir string) (*Set, error) {
	set, err := readPair(dir, "train", nil)
	if err != nil {
		return nil, err
	}
	return readPair(dir, "t10k", set)
}

// readPair appends the images and labels of one half of MNIST to set, if that
// half is there; or it makes a new set of them when set is nil.
func readPair(dir, half string, set *Set) (*Set, error) {
	images, dims, err := readFile(dir, half+"-images-idx3-ubyte", imageMagic)
	if set != nil && errors.Is(err, fs.ErrNotExist) {
		return set, nil
	}
	if err != nil {
		return nil, err
	}
	labels, _, err := readFile(dir, half+"-labels-idx1-ubyte", labelMagic)
	if err != nil {
		return nil, err
	}
	n, height, width := dims[0], dims[1], dims[2]
	if n != len(labels) {
		return nil, fmt.Errorf("%s has %d %s images but %d labels", dir, n, half, len(labels))
	}
	size := width * height
	if size == 0 || size > math.MaxUint16+1 {
		return nil, fmt.Errorf("%s: images of %d×%d pixels are not supported", dir, width, height)
	}
	if set == nil {
		set = newSet(width, height, n)
	}
	if set.Width != width || set.Height != height {
		return nil, fmt.Errorf("%s: the %s images have %d×%d pixels, the others %d×%d",
			dir, half, width, height, set.Width, set.Height)
	}
	for i, label := range labels {
		if label >= Classes {
			return nil, fmt.Errorf("%s: label %d of image %d (%s) is not a digit", dir, label, i, half)
		}
		set.add(images[i*size:(i+1)*size], label)
	}
	return set, nil
}

// readFile reads one IDX file of unsigned bytes, under its own name, with .gz,
// or with the dot that some unpacking programs put before "idx".
func readFile(dir, name string, magic uint32) (data []byte, dims []int, err error) {
	dotted := strings.Replace(name, "-idx", ".idx", 1)
	for _, candidate := range []string{name, name + ".gz", dotted, dotted + ".gz"} {
		path := filepath.Join(dir, candidate)
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		data, dims, err := decode(file, magic, strings.HasSuffix(path, ".gz"))
		file.Close()
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", path, err)
		}
		return data, dims, nil
	}
	return nil, nil, fmt.Errorf("%s has no %s or %s.gz: %w", dir, name, name, fs.ErrNotExist)
}

func decode(file io.Reader, magic uint32, compressed bool) (data []byte, dims []int, err error) {
	var r io.Reader = bufio.NewReader(file)
	if compressed {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, nil, err
		}
	}
	var found uint32
	if err := binary.Read(r, binary.BigEndian, &found); err != nil {
		return nil, nil, fmt.Errorf("no IDX header: %w", err)
	}
	if found != magic {
		return nil, nil, fmt.Errorf("starts with %#08x where IDX data of this kind starts with %#08x", found, magic)
	}
	sizes := make([]uint32, magic&0xff)
	if err := binary.Read(r, binary.BigEndian, sizes); err != nil {
		return nil, nil, fmt.Errorf("no IDX dimensions: %w", err)
	}
	total := uint64(1)
	for _, s := range sizes {
		dims = append(dims, int(s))
		// The first bound keeps the product itself from overflowing.
		if total *= uint64(s); s > math.MaxInt32 || total > 1<<31 {
			return nil, nil, fmt.Errorf("dimensions %v are too large", sizes)
		}
	}
	// Read what is there rather than trust the header with an allocation.
	if data, err = io.ReadAll(io.LimitReader(r, int64(total)+1)); err != nil {
		return nil, nil, err
	}
	if n := uint64(len(data)); n < total {
		return nil, nil, fmt.Errorf("cut short: %d bytes of data where the header promises %d", n, total)
	} else if n > total {
		return nil, nil, fmt.Errorf("has more data than the %d bytes that its header promises", total)
	}
	return data, dims, nil
}
