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
		p, q := small.images[i].unpacked(), large.images[i].unpacked()
		if !slices.Equal(p.pixel, q.pixel) || !slices.Equal(p.value, q.value) || p.label != q.label {
			t.Fatalf("image %d depends on the size of the set", i)
		}
	}
}

func TestDrawnIsBalancedAndSparse(t *testing.T) {
	const n = 2000
	set := Drawn(n)
	var count [Classes]int
	for i := range n {
		im := set.images[i].unpacked()
		pixel, value := im.pixel, im.value
		count[im.label]++
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
	set := &Set{}
	for i := range 50 {
		set.add([]byte{byte(i + 1), 0}, i%Classes)
	}
	train, test := set.Split(0)
	if train.Len() != 40 || test.Len() != 10 {
		t.Fatalf("split into %d and %d, want 40 and 10", train.Len(), test.Len())
	}
	seen := map[int]bool{}
	for _, part := range []*Set{train, test} {
		for _, im := range part.images {
			image := int(im.value[0]*255+0.5) - 1
			if im.label != image%Classes {
				t.Errorf("image %d has label %d", image, im.label)
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

// idx is a packed file of items: a head of big-endian numbers, and the data.
func idx(t *testing.T, magic uint32, dims []uint32, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for _, v := range append([]uint32{magic}, dims...) {
		_, _ = w.Write(binary.BigEndian.AppendUint32(nil, v)) // a bytes.Buffer takes everything
	}
	_, _ = w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// images are n of them, each with one pixel that tells which it is.
func images(n int) []byte {
	data := make([]byte, n*side*side)
	for i := range n {
		data[i*side*side+i] = byte(51 * (i + 1))
	}
	return data
}

// writeSet writes four files; what is nil is left out.
func writeSet(t *testing.T, files ...[]byte) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range []string{"train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"} {
		if files[i] == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name+"-ubyte.gz"), files[i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoad(t *testing.T) {
	set, err := Load(writeSet(t,
		idx(t, 0x803, []uint32{2, side, side}, images(2)), idx(t, 0x801, []uint32{2}, []byte{7, 0}),
		idx(t, 0x803, []uint32{1, side, side}, images(1)), idx(t, 0x801, []uint32{1}, []byte{4})), 0)
	if err != nil {
		t.Fatal(err)
	}
	if im := set.images[1].unpacked(); set.Len() != 3 || !slices.Equal(im.pixel, []uint16{1}) || !slices.Equal(im.value, []float64{0.4}) {
		t.Errorf("%d images, the second with %v at %v", set.Len(), im.value, im.pixel)
	}
	if set.images[0].label != 7 || set.images[2].label != 4 {
		t.Errorf("labels %d and %d, want 7 and 4", set.images[0].label, set.images[2].label)
	}
	if set, err = Load(DrawnData, 30); err != nil || set.Len() != 30 {
		t.Errorf("drawn: %v, %v", set, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	two := []uint32{2, side, side}
	pictures, labels := idx(t, 0x803, two, images(2)), idx(t, 0x801, []uint32{2}, []byte{7, 0})
	for _, c := range []struct {
		name           string
		images, labels []byte
		want           string
	}{
		{"missing", nil, labels, "train-images-idx3-ubyte.gz: no such file"},
		{"not packed", []byte("plain text"), labels, "invalid header"},
		{"torn", pictures[:len(pictures)-9], labels, "unexpected EOF"},
		{"empty", idx(t, 0x803, nil, nil), labels, "as IDX data of 3 dimensions does"},
		{"wrong kind", labels, labels, "as IDX data of 3 dimensions does"},
		{"cut data", idx(t, 0x803, two, images(1)), labels, "has 784 bytes of data where its head promises 1568"},
		{"more data", idx(t, 0x803, two, images(3)), labels, "has 2352 bytes"},
		{"other images", idx(t, 0x803, []uint32{2, 32, 32}, images(2)), labels, "found 32 as a dimension of an image, want 28"},
		{"count", pictures, idx(t, 0x801, []uint32{1}, []byte{7}), "2 train images but 1 labels"},
		{"label", pictures, idx(t, 0x801, []uint32{2}, []byte{7, 10}), "label 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Load(writeSet(t, c.images, c.labels, pictures, labels), 0); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := Load(writeSet(t, pictures, labels, nil, nil), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half of the set: %v", err)
	}
}
