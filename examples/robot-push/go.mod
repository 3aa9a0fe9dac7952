module github.com/lbotune/lbotune/examples/robot-push

go 1.25.0
