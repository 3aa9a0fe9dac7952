package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lbotune/lbotune/internal/journal"
	"github.com/lbotune/lbotune/internal/testing/tempdir"
)

// smallDisk returns a directory with room for 64 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	tempdir.Disk(t, dir, 64)
	return dir
}

func fill(t *testing.T, path string) {
	t.Helper()
	err := os.WriteFile(path, make([]byte, 1<<20), 0o600)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
}

// On a full disk nothing that was recorded is lost, and with room made it goes on.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t)
	path, ballast := filepath.Join(dir, "journal.jsonl"), filepath.Join(dir, "ballast")
	fill(t, ballast)
	_, err := journal.Create(path, header{"s1", 1})
	is[*journal.WriteError](t, err)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a journal was left: %v", err)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a draft was left: %v", err)
	}
	check(t, os.Truncate(ballast, 32<<10))
	j, err := journal.Create(path, header{"s1", 1})
	acked := uint64(1)
	for i := 0; err == nil; i++ {
		if err = j.Append(sample("s1", i), sample("s1", i+1)); err == nil {
			acked += 2
		}
	}
	is[*journal.WriteError](t, err)
	if !errors.Is(err, syscall.ENOSPC) || acked < 20 {
		t.Fatalf("after %d records: %v", acked, err)
	}
	if j.Close() != err {
		t.Error("Close hides the error")
	}
	sum, err := journal.Verify(path)
	check(t, err)
	if sum.Records != acked || sum.Torn != nil {
		t.Errorf("%d records were acknowledged, the file has %+v", acked, sum)
	}

	check(t, os.Remove(ballast))
	j, sum, err = journal.Open(path, ignore)
	check(t, err)
	err = j.Append(struct{}{})
	check(t, err)
	check(t, j.Close())
	if sum.Records != acked {
		t.Errorf("%d records were acknowledged, Open found %d", acked, sum.Records)
	}
}

// A torn end that there is no room to keep stays where it is.
func TestFullDiskWhileRepairing(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "journal.jsonl")
	content := append(build(t, "s1", 10), bytes.Repeat([]byte("x"), 10_000)...)
	check(t, os.WriteFile(path, content, 0o600))
	fill(t, filepath.Join(dir, "ballast"))
	_, _, err := journal.Open(path, ignore)
	is[*journal.WriteError](t, err)
	got, err := os.ReadFile(path)
	check(t, err)
	if !bytes.Equal(got, content) {
		t.Error("the journal was changed")
	}
	left, err := filepath.Glob(path + ".torn*")
	check(t, err)
	if len(left) > 0 {
		t.Errorf("half a copy was left: %v", left)
	}
	check(t, os.Remove(filepath.Join(dir, "ballast")))
	j, sum, err := journal.Open(path, ignore)
	check(t, err)
	check(t, j.Close())
	if sum.Records != 10 || sum.Torn.Length != 10_000 {
		t.Errorf("Open found %+v, torn %v", sum, sum.Torn)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "journal.jsonl")
	check(t, os.WriteFile(path, build(t, "s1", 10), 0o600))
	check(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	_, _, err := journal.Open(path, ignore)
	is[*journal.WriteError](t, err)
	_, err = journal.Create(filepath.Join(dir, "new.jsonl"), header{})
	is[*journal.WriteError](t, err)
	_, err = journal.Repair(path, filepath.Join(dir, "new.jsonl"))
	is[*journal.WriteError](t, err)
	sum, err := journal.Verify(path)
	check(t, err)
	if sum.Records != 10 {
		t.Errorf("Verify found %+v", sum)
	}
}
