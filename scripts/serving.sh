#!/bin/sh
# What share of a processor `lbotune serve` uses while a study runs that ends RATE trials
# a second, with a page that listens to it: after the first tenth of SECONDS, in which it
# starts, until the end. Each trial is three records or more of the journal.
#
#     scripts/serving.sh [SECONDS [RATE]]
set -eu
seconds=${1:-120} rate=${2:-10}
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
served='' run='' page=''
end() {
	for process in $page $served $run; do kill "$process" 2> /dev/null || :; done
	wait
	rm -rf "$dir"
}
trap end EXIT
CGO_ENABLED=0 go build -trimpath -o "$dir/lbotune" ./cmd/lbotune
cd "$dir"
cat > spec.toml <<SPEC
command = "sleep 1; echo loss=\$(awk -v x={x} -v y={y} 'BEGIN { print x * x + (y - 1) ^ 2 }')"
[objective]
metric = "loss"
[params]
x = { type = "float", min = -5, max = 5 }
y = { type = "float", min = -5, max = 5 }
[budget]
trials = $((2 * seconds * rate))
[run]
workers = $rate
SPEC
./lbotune run -q spec.toml > run.log 2>&1 &
run=$!
until [ -s spec.study/journal.jsonl ]; do sleep 0.1; done
./lbotune serve spec.toml --listen 127.0.0.1:0 > serve.log 2>&1 &
served=$!
until grep -q http: serve.log; do sleep 0.1; done
url=$(grep -o 'http://[^ ]*' serve.log | head -n 1)
curl -sN "${url%%\?*}events" -H "Authorization: Bearer ${url##*=}" > events.log &
page=$!

spent() { awk '{ print $14 + $15 }' "/proc/$served/stat"; } # of its processor, in ticks
count() { grep -c "$1" spec.study/journal.jsonl; }
sleep $((seconds / 10))
before=$(spent) trials=$(count '"finished"') records=$(count .) parts=$(grep -c '^event: part' events.log || :) from=$(date +%s%N)
sleep $((seconds - seconds / 10))
awk -v ticks=$(($(spent) - before)) -v hz="$(getconf CLK_TCK)" -v ns=$(($(date +%s%N) - from)) \
	-v trials=$(($(count '"finished"') - trials)) -v records=$(($(count .) - records)) \
	-v parts=$(($(grep -c '^event: part' events.log) - parts)) -v load="$(cut -d ' ' -f 1 /proc/loadavg)" 'BEGIN {
	s = ns / 1e9
	printf "serve: %.2f %% of a processor over %.0f s; %.1f trials and %.1f records a second; %d parts of the page sent; load %s\n",
		100 * ticks / hz / s, s, trials / s, records / s, parts, load
}'
