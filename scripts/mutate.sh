#!/usr/bin/env bash
# Changes the code in small ways and asks the tests whether they notice:
#
#   scripts/mutate.sh [PACKAGE ...]     by default journal study runner
#
# Each change that no test notices is listed as LIVED. It is a test that is missing, or a
# change that makes no difference: see what "go test" says of it without -short, too. It
# takes from half an hour (journal) to hours (runner).
set -euo pipefail
cd "$(dirname "$0")/.."

tool=github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
bin=${TMPDIR:-/tmp}/lbotune-mutate-$UID
mkdir -p "$bin"
[ -x "$bin/gremlins" ] || GOBIN=$bin go install "$tool"

[ "$#" -gt 0 ] || set -- journal study runner
for package in "$@"; do
	printf '== %s\n' "$package"
	GOFLAGS=-short nice "$bin/gremlins" unleash "./$package" --workers 2 --timeout-coefficient 20 \
		--invert-logical --invert-loopctrl --output "$bin/$package.json"
done
