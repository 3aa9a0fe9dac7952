#!/usr/bin/env bash
# Statement coverage of what must not lose a result, by the tests of these packages
# together. It fails below what is demanded: scripts/coverage.sh [FILE for the profile]
set -euo pipefail
cd "$(dirname "$0")/.."

demanded='internal/journal 100
runner 90
session 90
study 90'

profile=${1:-$(mktemp)}
[ $# -gt 0 ] || trap 'rm -f "$profile"' EXIT
mapfile -t packages < <(awk '{ print "./" $1 }' <<<"$demanded")
# How many epochs halving saves is another question, and takes long to count.
go test -count=1 -timeout 20m -skip "^TestHalvingSavesEpochs$" -coverprofile "$profile" -coverpkg "$(IFS=,; echo "${packages[*]}")" "${packages[@]}"

# A block is listed once for each test program: it is covered if one of them was there.
awk -v demanded="$demanded" '
	NR > 1 {
		statements[$1] = $2
		if ($3 > 0) hit[$1] = 1
	}
	END {
		for (block in statements) {
			package = block
			sub(/\/[^\/]*$/, "", package)
			sub(/^github.com\/lbotune\/lbotune\//, "", package)
			all[package] += statements[block]
			if (block in hit) covered[package] += statements[block]
		}
		n = split(demanded, rows, "\n")
		for (i = 1; i <= n; i++) {
			split(rows[i], row, " ")
			share = 100 * covered[row[1]] / all[row[1]]
			printf "%-16s %6.2f %% of %d statements, demanded %d\n", row[1], share, all[row[1]], row[2]
			if (share < row[2]) low = 1
		}
		exit low
	}
' "$profile"
