#!/usr/bin/env bash
# Packs result files of lbobench into dist/, as a file to publish with a release: the CSVs, and
# the commit, the compiler and the machine that made them.
#
#     scripts/runs.sh NAME FILE.csv ...
#
# Run it at the commit whose lbobench made the files. The same files give the same bytes of
# each CSV; the checksums of all are inside, and that of the archive is printed.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: scripts/runs.sh NAME FILE.csv ..." >&2; exit 2; }
name=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name" "$root/dist"
cp -- "$@" "$work/$name/"
{
	echo "commit   $(git -C "$root" rev-parse HEAD)$(git -C "$root" diff --quiet HEAD || echo ", changed")"
	echo "compiler $(cd "$root" && go version)"
	echo "machine  $(uname -srm), $(getconf _NPROCESSORS_ONLN) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -1)"
	echo "packed   $(date -u +%Y-%m-%dT%H:%MZ)"
} >"$work/$name/ORIGIN"
cd "$work/$name"
if command -v sha256sum >/dev/null; then sum=sha256sum; else sum="shasum -a 256"; fi
$sum -- *.csv ORIGIN >SHA256SUMS
tar -C "$work" -cf - "$name" | gzip -n -9 >"$root/dist/$name.tar.gz"
cd "$root/dist"
$sum -- "$name.tar.gz"
