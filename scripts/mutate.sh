#!/usr/bin/env bash
# Changes the code in small ways and asks the tests whether they notice:
#
#   scripts/mutate.sh [PACKAGE[/FILE.go] ...]     by default internal/journal study runner
#   SKIP='TestSlow|TestSlower' scripts/mutate.sh internal/journal/lock.go internal/journal/open.go
#
# Each change that no test notices is listed as LIVED. It is a test that is missing, or a
# change that makes no difference: see what "go test" says of it without -short and SKIP,
# too. A change may also be TIMED OUT because the machine is busy. The tests run one after
# the other, and take from half an hour (journal) to hours (runner) on an idle machine.
set -euo pipefail
cd "$(dirname "$0")/.."

tool=github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
bin=${TMPDIR:-/tmp}/lbotune-mutate-$UID
mkdir -p "$bin"
[ -x "$bin/gremlins" ] || GOBIN=$bin go install "$tool"

# A change of runner can end processes that it does not own: as root on Linux it finds none
# but those of the tests.
box=()
if [ "$(id -u)" = 0 ] && command -v unshare >/dev/null; then
	box=(unshare --pid --fork --mount-proc --kill-child sh -c '"$@"; exit "$?"' sh)
fi

[ "$#" -gt 0 ] || set -- internal/journal study runner
for what in "$@"; do
	printf '== %s\n' "$what"
	package=${what%/*.go} others=()
	if [ "$package" != "$what" ]; then
		for file in "$package"/*.go; do
			[ "$file" = "$what" ] || others+=(--exclude-files "(^|/)${file##*/}\$")
		done
	fi
	# The time limit is a multiple of what the tests take, which a cached result would hide.
	GOFLAGS="-short -count=1 -skip=${SKIP:-^\$}" nice "${box[@]}" "$bin/gremlins" unleash "./$package" --workers 1 --timeout-coefficient 5 \
		--invert-logical --invert-loopctrl "${others[@]}" --output "$bin/${what//\//-}.json"
done
