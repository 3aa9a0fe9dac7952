#!/bin/sh
# What lbotune adds to a trial: the time of N trials of COMMAND, by default `true`, by random
# search in WORKERS slots, with a synced journal, beside that of xargs -P and, where it is
# installed, of GNU parallel with a job log, one after the other in each of three
# rounds. The last lines give the ratios to xargs, round by round.
#
#     scripts/overhead.sh [N [WORKERS [DIR [COMMAND]]]]    COMMAND is of plain words, and ends well
#     scripts/overhead.sh 512 64 bin "sleep 1"
#
# The study is kept in DIR, by default in bin beside this directory, since /tmp may be
# memory: what a sync and a new file cost depends on the disk. On ext4 a new file takes
# up to a millisecond near where thousands were removed in the last five minutes, by
# tests or by this script; +T has it choose another place for each run.
set -eu
n=${1:-2000} workers=${2:-2} command=${4:-true}
repository=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${3:-$repository/bin}"
[ $# -ge 3 ] || chattr +T "$repository/bin" 2> /dev/null || : # where there is such a thing
dir=$(cd "${3:-$repository/bin}" && mktemp -d "$PWD/overhead.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$repository"
CGO_ENABLED=0 go build -trimpath -o "$dir/lbotune" ./cmd/lbotune
cd "$dir"
cat > spec.toml <<SPEC
command = [$(printf '"%s", ' $command)]
[objective]
last_number = true
direction = "minimize"
[params.x]
type = "float"
min = 0
max = 1
[optimizer]
method = "random"
[budget]
trials = $n
[run]
workers = $workers
failure_guard = -1        # the command prints no value: every trial fails
params_from_env = true
SPEC

# seconds NAME COMMAND...: prints how long the command takes, and sets took.
seconds() {
	name=$1
	shift
	from=$(date +%s%N)
	"$@" > /dev/null 2>&1 || [ $? = 5 ] # of lbotune: no trial succeeded
	took=$(($(date +%s%N) - from))
	awk -v name="$name" -v ns=$took -v n="$n" -v load="$(cut -d ' ' -f 1 /proc/loadavg)" \
		'BEGIN { printf "%-28s %7.2f s  %6.3f ms a trial, load %s\n", name, ns / 1e9, ns / 1e6 / n, load }'
}

ratios=""
for round in 1 2 3; do
	seconds "xargs -P$workers" sh -c "seq $n | xargs -P$workers -I_ $command"
	xargs=$took
	seconds "lbotune" ./lbotune run --study "$round.study" spec.toml
	ratios="$ratios $took/$xargs"
	if command -v parallel > /dev/null && parallel --version 2> /dev/null | grep -q GNU; then
		seconds "parallel --joblog -j$workers" sh -c "seq $n | parallel --will-cite --joblog $round.log -j$workers -N0 $command"
	fi
done
printf 'lbotune / xargs:'
for r in $ratios; do
	awk -v r="$r" 'BEGIN { split(r, t, "/"); printf " %.2f", t[1] / t[2] }'
done
echo
