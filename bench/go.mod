module github.com/lbotune/lbotune/bench

go 1.25.0

require (
	github.com/hanwen/go-fuse/v2 v2.12.1
	github.com/lbotune/lbotune v0.0.0
	github.com/lbotune/lbotune/examples/mnist-logreg v0.0.0
	github.com/lbotune/lbotune/examples/robot-push v0.0.0
	github.com/prometheus/common v0.71.0
	github.com/spf13/cobra v1.10.2
	golang.org/x/sync v0.22.0
	golang.org/x/sys v0.47.0
	golang.org/x/term v0.45.0
	gonum.org/v1/gonum v0.17.0
	gonum.org/v1/plot v0.17.0
	google.golang.org/protobuf v1.36.12
)

require (
	codeberg.org/go-fonts/liberation v0.6.0 // indirect
	codeberg.org/go-latex/latex v0.3.0 // indirect
	codeberg.org/go-pdf/fpdf v0.12.0 // indirect
	git.sr.ht/~sbinet/gg v0.8.0 // indirect
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.2 // indirect
	github.com/spf13/pflag v1.1.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/image v0.45.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	mvdan.cc/sh/v3 v3.13.1 // indirect
)

replace (
	github.com/lbotune/lbotune => ../
	github.com/lbotune/lbotune/examples/mnist-logreg => ../examples/mnist-logreg
	github.com/lbotune/lbotune/examples/robot-push => ../examples/robot-push
)
