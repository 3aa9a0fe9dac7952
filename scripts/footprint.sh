#!/usr/bin/env bash
# The size of the program as it is released, and the most memory that it needs for a study of
# N trials of two parameters. It needs python3 to measure that.
#
#     scripts/footprint.sh [N]        default: 500
set -euo pipefail
n=${1:-500}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w" -o "$work/lbotune" ./cmd/lbotune
echo "program: $(($(wc -c <"$work/lbotune") / 1000000)) MB"
cat >"$work/spec.toml" <<E2
command = "awk -v x={x} -v y={y} 'BEGIN { print \"loss=\" (x - 0.35)^2 + 2 * (y - 0.6)^2 + sin(9 * x) * cos(7 * y) }'"
objective.metric = "loss"
params.x = { type = "float", min = 0, max = 1 }
params.y = { type = "float", min = 0, max = 1 }
budget.trials = $n
E2
cd "$work"
python3 - <<'E2'
import resource, subprocess
subprocess.run(["./lbotune", "run", "-q", "spec.toml"], stdout=subprocess.DEVNULL, check=True)
print("memory: %.0f MB" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))
E2
