package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestRunPrintsEpochsAndResult(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"--lr=0.01", "--l2=1e-5", "--epochs=3", "--n=400"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines, want a heading, 3 epochs and the result:\n%s", len(lines), out.String())
	}
	if want := "320 images to train on, 80 to test on"; lines[0] != want {
		t.Errorf("heading %q, want %q", lines[0], want)
	}
	epoch := regexp.MustCompile(`^epoch=3 train_loss=\d\.\d{6} (test_loss=\d\.\d{6} accuracy=0\.\d{4})$`)
	m := epoch.FindStringSubmatch(lines[3])
	if m == nil {
		t.Fatalf("last epoch reads %q", lines[3])
	}
	if lines[4] != m[1] {
		t.Errorf("result %q differs from the last epoch's %q", lines[4], m[1])
	}
}

func TestRunRefusesBadArguments(t *testing.T) {
	for _, args := range [][]string{
		{"--lr=0"}, {"--lr=NaN"}, {"--l2=-1"}, {"--epochs=0"}, {"--batch=0"},
		{"--n=-1"}, {"--n=1"}, {"stray"}, {"--data=" + t.TempDir()},
	} {
		if err := run(append([]string{"--n=50"}, args...), io.Discard, io.Discard); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

// writeMNIST writes files as MNIST has them: big-endian headers and images of
// 28×28 bytes, here with a bar whose height tells the digit.
func writeMNIST(t *testing.T, dir, half string, n int, suffix string) {
	t.Helper()
	const side = 28
	images := binary.BigEndian.AppendUint32(nil, 0x803)
	labels := binary.BigEndian.AppendUint32(nil, 0x801)
	for _, v := range []int{n, side, side} {
		images = binary.BigEndian.AppendUint32(images, uint32(v))
	}
	labels = binary.BigEndian.AppendUint32(labels, uint32(n))
	for i := range n {
		digit := i % 10
		image := make([]byte, side*side)
		for x := range side {
			image[(2*digit+4)*side+x] = 255
		}
		images, labels = append(images, image...), append(labels, byte(digit))
	}
	for name, data := range map[string][]byte{"images-idx3-ubyte": images, "labels-idx1-ubyte": labels} {
		if suffix == ".gz" {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, _ = w.Write(data) // a bytes.Buffer takes everything
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			data = b.Bytes()
		}
		if err := os.WriteFile(filepath.Join(dir, half+"-"+name+suffix), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunReadsMNIST(t *testing.T) {
	var outputs []string
	for _, suffix := range []string{"", ".gz"} {
		dir := t.TempDir()
		writeMNIST(t, dir, "train", 120, suffix)
		writeMNIST(t, dir, "t10k", 30, suffix)
		var out bytes.Buffer
		if err := run([]string{"--lr=0.05", "--l2=1e-6", "--epochs=5", "--data=" + dir}, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, out.String())
	}
	if outputs[0] != outputs[1] {
		t.Errorf("plain files give\n%s\npacked ones\n%s", outputs[0], outputs[1])
	}
	for _, want := range []string{"120 images to train on, 30 to test on\n", " accuracy=1.0000\n"} {
		if !strings.Contains(outputs[0], want) {
			t.Errorf("no %q in\n%s", want, outputs[0])
		}
	}
}
