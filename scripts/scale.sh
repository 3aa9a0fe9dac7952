#!/bin/sh
# What large studies cost: time and memory of looking at a study of 100,000 trials
# and of going on with it, and the memory of studies that run at 1,000 trials.
#
#     scripts/scale.sh
set -eu
cd "$(dirname "$0")/.."
go -C bench test -count=1 -v ./torture -run 'TestLargeStudy|TestRunningStudy' -torture | grep -v '^=== '
