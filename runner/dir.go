package runner

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/lbotune/lbotune/internal/door"
)

// claim creates the attempt's directory and returns a descriptor of it. Of several
// claimants exactly one succeeds; the others get ErrClaimed.
func claim(dir string) (int, error) {
	err := door.Mkdir(dir)
	if errors.Is(err, unix.EEXIST) {
		return -1, fmt.Errorf("%s: %w", dir, ErrClaimed)
	}
	if err != nil {
		return -1, err
	}
	fd, err := openDir(dir)
	if err != nil {
		_ = door.Rmdir(dir)
	}
	return fd, err
}

func openDir(dir string) (int, error) { return door.OpenDirAt(unix.AT_FDCWD, dir) }

// createAt creates the file name, of mode 0600, in the directory of descriptor dir.
func createAt(dir int, name string) (int, error) {
	return door.OpenAt(dir, name, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT|unix.O_EXCL)
}

// writeFiles writes files into a fresh directory.
func writeFiles(dir string, files []File) error {
	if len(files) == 0 {
		return nil
	}
	d, err := door.OpenReal(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for _, f := range files {
		if above := path.Dir(f.Name); above != "." {
			made, err := d.Make(above)
			if err != nil {
				return err
			}
			made.Close()
		}
		w, err := d.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		if err != nil {
			return err
		}
		_, err = w.Write(f.Content)
		if err = errors.Join(err, w.Close()); err != nil {
			return err
		}
	}
	return nil
}
