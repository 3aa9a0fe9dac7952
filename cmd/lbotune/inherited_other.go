//go:build !linux

package main

// closeInherited does nothing where the system has no such call.
func closeInherited() {}
