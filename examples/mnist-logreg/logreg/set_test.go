package logreg

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDrawnIsStable(t *testing.T) {
	small, large := Drawn(20), Drawn(60)
	for i := range small.Len() {
		p, v := small.image(i)
		q, w := large.image(i)
		if !slices.Equal(p, q) || !slices.Equal(v, w) || small.Label(i) != large.Label(i) {
			t.Fatalf("image %d depends on the size of the set", i)
		}
	}
}

func TestDrawnIsBalancedAndSparse(t *testing.T) {
	const n = 2000
	set := Drawn(n)
	var count [Classes]int
	for i := range n {
		count[set.Label(i)]++
		pixel, value := set.image(i)
		if len(pixel) < 40 || len(pixel) > 400 {
			t.Errorf("image %d has %d pixels that are not empty", i, len(pixel))
		}
		for j := range value {
			if value[j] <= 0 || value[j] > 1 || pixel[j] >= side*side {
				t.Fatalf("image %d holds %v at pixel %d", i, value[j], pixel[j])
			}
		}
	}
	for digit, c := range count {
		if c < n/Classes*7/10 || c > n/Classes*13/10 {
			t.Errorf("%d of %d images show a %d", c, n, digit)
		}
	}
}

func TestSplitPartitions(t *testing.T) {
	set := newSet(2, 1, 50)
	for i := range 50 {
		set.add([]byte{byte(i + 1), 0}, uint8(i%Classes))
	}
	train, test := set.Split(0)
	if train.Len() != 40 || test.Len() != 10 {
		t.Fatalf("split into %d and %d, want 40 and 10", train.Len(), test.Len())
	}
	seen := map[int]bool{}
	for _, part := range []*Set{train, test} {
		for i := range part.Len() {
			_, value := part.image(i)
			image := int(value[0]*255+0.5) - 1
			if part.Label(i) != image%Classes {
				t.Errorf("image %d has label %d", image, part.Label(i))
			}
			seen[image] = true
		}
	}
	if len(seen) != 50 {
		t.Errorf("%d different images after the split, want 50", len(seen))
	}
	train, test = set.Split(10)
	if train.Len() != 8 || test.Len() != 2 {
		t.Errorf("10 images split into %d and %d, want 8 and 2", train.Len(), test.Len())
	}
}

func idx(magic uint32, dims []uint32, data []byte) []byte {
	var b bytes.Buffer
	for _, v := range append([]uint32{magic}, dims...) {
		b.Write(binary.BigEndian.AppendUint32(nil, v))
	}
	b.Write(data)
	return b.Bytes()
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReadIDX(t *testing.T) {
	images := idx(imageMagic, []uint32{3, 1, 2}, []byte{0, 255, 51, 0, 0, 0})
	labels := idx(labelMagic, []uint32{3}, []byte{7, 0, 9})
	extraImages := idx(imageMagic, []uint32{1, 1, 2}, []byte{255, 255})
	extraLabels := idx(labelMagic, []uint32{1}, []byte{4})

	for _, layout := range []struct {
		name           string
		images, labels string
		zip            bool
	}{
		{"plain", "train-images-idx3-ubyte", "train-labels-idx1-ubyte", false},
		{"gzip", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", true},
		{"dotted", "train-images.idx3-ubyte", "train-labels.idx1-ubyte", false},
	} {
		t.Run(layout.name, func(t *testing.T) {
			dir := t.TempDir()
			i, l := images, labels
			if layout.zip {
				i, l = zipped(t, i), zipped(t, l)
			}
			write(t, dir, layout.images, i)
			write(t, dir, layout.labels, l)
			set, err := ReadIDX(dir)
			if err != nil {
				t.Fatal(err)
			}
			if set.Len() != 3 || set.Width != 2 || set.Height != 1 {
				t.Fatalf("%d images of %d×%d, want 3 of 2×1", set.Len(), set.Width, set.Height)
			}
			pixel, value := set.image(1)
			if !slices.Equal(pixel, []uint16{0}) || !slices.Equal(value, []float64{0.2}) || set.Label(2) != 9 {
				t.Errorf("image 1 is %v %v, label 2 is %d", pixel, value, set.Label(2))
			}

			write(t, dir, "t10k-images-idx3-ubyte", extraImages)
			if _, err := ReadIDX(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("test images without labels: %v", err)
			}
			write(t, dir, "t10k-labels-idx1-ubyte", extraLabels)
			if set, err = ReadIDX(dir); err != nil || set.Len() != 4 || set.Label(3) != 4 {
				t.Errorf("with the test half: %v, %v", set, err)
			}
		})
	}
}

func TestReadIDXRefuses(t *testing.T) {
	images := idx(imageMagic, []uint32{2, 1, 2}, []byte{1, 2, 3, 4})
	labels := idx(labelMagic, []uint32{2}, []byte{7, 0})
	for _, c := range []struct {
		name           string
		images, labels []byte
		want           string
	}{
		{"empty file", nil, labels, "no IDX header"},
		{"wrong kind", labels, labels, "starts with 0x00000801"},
		{"cut header", images[:10], labels, "no IDX dimensions"},
		{"cut data", images[:len(images)-1], labels, "cut short"},
		{"more data", append(slices.Clone(images), 0), labels, "more data"},
		{"huge header", idx(imageMagic, []uint32{1 << 31, 1 << 31, 4}, nil), labels, "too large"},
		{"count", images, idx(labelMagic, []uint32{1}, []byte{7}), "2 train images but 1 labels"},
		{"label", images, idx(labelMagic, []uint32{2}, []byte{7, 10}), "label 10"},
		{"no pixels", idx(imageMagic, []uint32{2, 0, 2}, nil), labels, "0 pixels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "train-images-idx3-ubyte", c.images)
			write(t, dir, "train-labels-idx1-ubyte", c.labels)
			_, err := ReadIDX(dir)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "2×0", "0 pixels"), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := ReadIDX(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty directory: %v", err)
	}
}
