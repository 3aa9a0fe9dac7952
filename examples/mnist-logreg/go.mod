module github.com/lbotune/lbotune/examples/mnist-logreg

go 1.25.0
