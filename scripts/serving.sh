#!/bin/sh
# What `lbotune serve` takes while a study runs that ends RATE trials a second, with a page that
# listens to it: after the first tenth of SECONDS, in which it starts, until the end. Each trial is
# three records or more of the journal. Twice a second the head that has arrived is held against
# the trials of the journal a second before: it is late if it tells of fewer.
#
# Before that BEFORE trials are run as fast as they can be.
#
#     scripts/serving.sh [SECONDS [RATE [BEFORE]]]
set -eu
seconds=${1:-120} rate=${2:-10} first=${3:-0}
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
command = "test {trial} -lt $first || sleep 1; echo loss=\$(awk -v x={x} -v y={y} 'BEGIN { print x * x + (y - 1) ^ 2 }')"
[objective]
metric = "loss"
[params]
x = { type = "float", min = -5, max = 5 }
y = { type = "float", min = -5, max = 5 }
[budget]
trials = $((first + 2 * seconds * rate))
[run]
workers = $rate
[optimizer]
method = "$([ "$first" -gt 0 ] && echo random || echo lbo)"
SPEC
./lbotune run -q spec.toml > run.log 2>&1 &
run=$!
until [ -s spec.study/journal.jsonl ] && [ "$(grep -c '"finished"' spec.study/journal.jsonl)" -ge "$first" ]; do sleep 0.1; done
./lbotune serve spec.toml --listen 127.0.0.1:0 > serve.log 2>&1 &
served=$!
until grep -q http: serve.log; do sleep 0.1; done
url=$(grep -o 'http://[^ ]*' serve.log | head -n 1)
curl -sN "${url%%\?*}events" -H "Authorization: Bearer ${url##*=}" > events.log &
page=$!

spent() { awk '{ print $14 + $15 }' "/proc/$served/stat"; } # of its processor, in ticks
count() { grep -c "$1" spec.study/journal.jsonl; }
shown() { grep -o '[0-9]* of [0-9]*</b><span>trials' events.log | tail -n 1 | cut -d ' ' -f 1; }
sleep $((seconds / 10))
before=$(spent) trials=$(count '"finished"') records=$(count .) parts=$(grep -c '^event: part' events.log || :) bytes=$(wc -c < events.log) from=$(date +%s%N)
looks=0 late=0 then=0 now=$(count '"proposed"')
while [ $(($(date +%s%N) - from)) -lt $(((seconds - seconds / 10) * 1000000000)) ]; do
	earlier=$then then=$now now=$(count '"proposed"')
	sleep 0.5
	looks=$((looks + 1))
	[ "$(shown)" -ge "$earlier" ] || late=$((late + 1))
done
awk -v ticks=$(($(spent) - before)) -v hz="$(getconf CLK_TCK)" -v ns=$(($(date +%s%N) - from)) \
	-v trials=$(($(count '"finished"') - trials)) -v records=$(($(count .) - records)) -v looks=$looks -v late=$late \
	-v parts=$(($(grep -c '^event: part' events.log) - parts)) -v bytes=$(($(wc -c < events.log) - bytes)) -v load="$(cut -d ' ' -f 1 /proc/loadavg)" 'BEGIN {
	s = ns / 1e9
	printf "serve: %.2f %% of a processor over %.0f s; %.1f trials and %.1f records a second; %d parts of the page and %.0f kB a second sent; late in %d of %d looks; load %s\n",
		100 * ticks / hz / s, s, trials / s, records / s, parts, bytes / s / 1024, late, looks, load
}'
