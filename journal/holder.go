//go:build linux || darwin

package journal

import (
	"bufio"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockedBy asks the system which process holds the lock of f: one that opened the
// journal by another name has left its note elsewhere. It is 0 where the system does
// not tell, or names no process that can be seen from here.
func (f osFile) lockedBy() int { return f.lockedByList("/proc/locks") } // Linux alone has it

// lockedByList looks for the holder in a list of locks.
func (f osFile) lockedByList(path string) int {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	locks, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer locks.Close()
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		// 3: FLOCK  ADVISORY  WRITE 20420 fe:00:9991123 0 EOF
		var number, kind, strict, mode string
		var pid int
		var major, minor uint32
		var inode uint64
		n, _ := fmt.Sscanf(lines.Text(), "%s %s %s %s %d %x:%x:%d", &number, &kind, &strict, &mode, &pid, &major, &minor, &inode)
		if n == 8 && kind == "FLOCK" && pid > 0 && inode == info.Ino && unix.Mkdev(major, minor) == info.Dev {
			return pid
		}
	}
	return 0
}
