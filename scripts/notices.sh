#!/usr/bin/env bash
# Writes cmd/lbotune/notices.txt: the licenses of everything that is part of the program.
#
#     scripts/notices.sh
set -euo pipefail
cd "$(dirname "$0")/.."

modules() {
	for os in linux darwin; do
		GOOS=$os go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/lbotune
	done | sort -u
}

{
	echo "lbotune is under the license in its file LICENSE. It has in it the programs below, under theirs."
	printf '\n== Go %s\n\n' "$(go env GOVERSION | sed 's/^go//; s/\.[0-9]*$//')"
	cat "$(go env GOROOT)/LICENSE"
	modules | while read -r path version dir; do
		printf '\n== %s %s\n' "$path" "$version"
		found=
		for file in "$dir"/LICEN[CS]E* "$dir"/COPYING* "$dir"/NOTICE* "$dir"/THIRD_PARTY*/* "$dir"/licenses/*; do
			[ -f "$file" ] || continue
			found=1
			printf '\n-- %s\n\n' "${file#"$dir/"}"
			cat "$file"
		done
		[ -n "$found" ] || { echo "$path has no license" >&2; exit 1; }
	done
} | tr -d '\r' >cmd/lbotune/notices.txt
