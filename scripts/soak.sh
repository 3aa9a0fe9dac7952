#!/usr/bin/env bash
# Runs the whole suite again and again on a machine that four busy loops and a writer of
# large files keep busy, each time in a fresh temporary folder, and prints which tests
# failed and what was left behind: files, processes, mounts.
#
#	scripts/soak.sh [N] [PACKAGE...]    N runs (5), of all packages of both modules
#	scripts/soak.sh 5 -C bench ./torture
#
# It exits with 1 if there was any of it.
set -uo pipefail
cd "$(dirname "$0")/.."

runs=${1:-5}
[[ $runs =~ ^[1-9][0-9]*$ ]] || { echo "usage: scripts/soak.sh [N] [PACKAGE...]" >&2; exit 2; }
shift || true

suite() { # [PACKAGE...]
	if [ $# -gt 0 ]; then
		go test "$@" -count=1 -timeout 60m
		return
	fi
	local status=0
	go test -count=1 -timeout 60m ./... || status=$?
	go -C bench test -count=1 -timeout 60m ./... || status=$?
	return $status
}

# Not below the folder of a system that forgets it, and short: sockets have short names.
base=$(mktemp -d "${TMPDIR:-/tmp}/soak.XXXXXX") && chmod 755 "$base" || exit 1 # some tests act for other users
load=()
trap 'kill "${load[@]}" 2>/dev/null; rm -rf "$base"' EXIT
for _ in 1 2 3 4; do
	(while :; do :; done) &
	load+=($!)
done
(while :; do head -c 256M /dev/zero >"$base/large"; sync "$base/large"; done) 2>/dev/null &
load+=($!)

# The tests of one run have its folder in their environment, and so has what they leave.
left_running() {
	local p
	for p in /proc/[0-9]*; do
		if { tr '\0' '\n' <"$p/environ"; } 2>/dev/null | grep -qxF "TMPDIR=$1"; then
			echo "process ${p#/proc/}: $({ tr '\0' ' ' <"$p/cmdline"; } 2>/dev/null)"
		fi
	done
}

bad=0
for run in $(seq "$runs"); do
	tmp=$base/$run
	mkdir "$tmp"
	begun=$SECONDS
	TMPDIR=$tmp suite "$@" >"$base/log" 2>&1
	status=$?
	left=$(
		find "$tmp" -mindepth 1 -maxdepth 1 -printf 'file %f\n' 2>/dev/null
		[ ! -d /proc/self ] || left_running "$tmp"
		grep -F " $tmp/" /proc/self/mounts 2>/dev/null | sed 's/^/mount /'
	)
	echo "run $run of $runs: $((SECONDS - begun)) s, exit code $status, $(grep -c . <<<"$left") left behind"
	if [ "$status" != 0 ]; then
		grep -vE '^(ok|\?) ' "$base/log" | tail -n 100
		bad=1
	fi
	if [ -n "$left" ]; then
		sed 's/^/	left: /' <<<"$left"
		bad=1
	fi
	grep -F " $tmp/" /proc/self/mounts 2>/dev/null | cut -d' ' -f2 | sort -r | xargs -r -n1 umount -l
	rm -rf "$tmp"
done
exit "$bad"
