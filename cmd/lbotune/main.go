// Lbotune tunes the parameters of any program by Lipschitz Bayesian
// optimization: it starts the program with one set of values after another,
// reads the metric that it prints, and learns where better values lie.
package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func main() {
	closeInherited()
	os.Exit(execute(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

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
