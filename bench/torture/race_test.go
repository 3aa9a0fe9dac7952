//go:build linux && race

package torture_test

// raced says that lbotune is built with the race detector too.
const raced = true
