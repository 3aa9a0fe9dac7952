#!/bin/sh
# What large studies cost: time and memory of looking at a study of 100,000 trials
# and of going on with it, the memory of studies that run at 1,000 trials, and what one trial
# takes of the session among 1,000, 4,000 and 16,000 others that climb rungs, or of which the best
# few are kept.
#
#     scripts/scale.sh
#
# With sizes, one table of every command on studies of 1, 5, 20 and 100 parameters, 2 and 3 objectives,
# 5 constraints, and 50 readings with each rule that stops early: processor seconds, how many
# times those of as many parameters and one objective in the same run, or of one parameter where
# there is nothing else (x), how they grow from size to size (n^), and the most memory. The first
# takes two minutes.
#
#     scripts/scale.sh 30 100
#     scripts/scale.sh 100 1000 10000
set -eu
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
    go -C bench test -count=1 -timeout 3h -v ./torture -run 'TestGrowth$' -table -sizes "$(echo "$*" | tr ' ' ,)" | grep -v '^=== '
    exit
fi
go -C bench test -count=1 -v ./torture -run 'TestLargeStudy|TestRunningStudy|TestWideStudy' -torture | grep -v '^=== '
go test -run '^$' -bench 'Benchmark(Climb|Keep)$' ./study ./session | grep trial
