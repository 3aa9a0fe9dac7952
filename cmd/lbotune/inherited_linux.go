package main

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeInherited keeps descriptors that lbotune was started with, beside the standard ones,
// from what it starts: a file of its caller's may be open for nobody else. Before Linux 5.11
// they are passed on.
func closeInherited() { _ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) }
