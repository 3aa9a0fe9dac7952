package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeInherited keeps descriptors that lbotune was started with, beside the standard ones,
// from what it starts: a file of its caller's may be open for nobody else.
func closeInherited() {
	open, _ := os.ReadDir("/dev/fd")
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
