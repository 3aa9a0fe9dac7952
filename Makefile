# For people. Everything here is a plain go command; .ci/run is the gate.
.PHONY: build test ci bench torture soak

build: ## bin/lbotune, static
	CGO_ENABLED=0 go build -trimpath -o bin/lbotune ./cmd/lbotune

test:
	go test ./...
	go -C bench test ./...

ci:
	bash .ci/run

bench:
	go test -run '^$$' -bench . -benchmem ./...
	go -C bench test -run '^$$' -bench . -benchmem -timeout 3h ./...

torture: ## minutes of kills, full disks and runaway programs; as root it can do more
	go -C bench test -count=1 -timeout 90m -v ./torture -torture

soak: ## an hour or more: studies that nobody has simulated before, and the whole suite again and again on a busy machine
	LBOTUNE_SIMULATE=fresh/20000 go test ./session -run 'TestSimulation|TestPromises$$' -v -timeout 90m
	GORACE=atexit_sleep_ms=0 LBOTUNE_LONG_TESTS=1 go test -race -timeout 120m ./...
	GORACE=atexit_sleep_ms=0 LBOTUNE_LONG_TESTS=1 go -C bench test -race -timeout 180m ./...
	scripts/soak.sh 30
