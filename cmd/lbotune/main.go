// Lbotune tunes the parameters of any program by Lipschitz Bayesian
// optimization: it starts the program with one set of values after another,
// reads the metric that it prints, and learns where better values lie.
package main

import "os"

func main() {
	closeInherited()
	os.Exit(execute(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}
