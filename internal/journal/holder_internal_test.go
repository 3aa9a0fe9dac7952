//go:build linux || darwin

package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestHolderFromAListOfLocks(t *testing.T) {
	dir := t.TempDir()
	file, err := osFS{}.OpenFile(filepath.Join(dir, "journal.jsonl"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	f := file.(osFile)
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	list := func(text string) string {
		path := filepath.Join(dir, "locks")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	place := fmt.Sprintf("%02x:%02x:%d", unix.Major(info.Dev), unix.Minor(info.Dev), info.Ino)
	held := "1: POSIX  ADVISORY  WRITE 7 " + place + " 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 " + place + " 0 EOF\n"
	if pid := f.lockedByList(list(held)); pid != 4711 {
		t.Errorf("held by %d, want 4711", pid)
	}
	for name, path := range map[string]string{"another file's lock": list("1: FLOCK  ADVISORY  WRITE 4711 00:00:1 0 EOF\n"), "no list": filepath.Join(dir, "none")} {
		t.Run(name, func(t *testing.T) {
			if pid := f.lockedByList(path); pid != 0 {
				t.Errorf("%s: held by %d", name, pid)
			}
		})
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if h := holderOf(f); h != (Holder{}) {
		t.Errorf("a closed file is held by %+v", h)
	}
}

func TestADeviceIsNoJournal(t *testing.T) {
	var place *PlaceError
	if _, err := Verify(os.DevNull); !errors.As(err, &place) {
		t.Errorf("%v, want a PlaceError", err)
	}
}
