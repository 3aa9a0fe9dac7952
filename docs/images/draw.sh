#!/bin/sh
# Draws the pictures anew: run.svg from a real run of the README's example, report.png
# from its page as Chromium shows it, steps.svg and bounds.svg from what the optimizer does with a known function.
set -e
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
command='lbotune run examples/mnist-logreg/spec.toml'
go build -o "$tmp/lbotune" ./cmd/lbotune
go -C bench build -o "$tmp/terminal" ./images/terminal
{
	echo "\$ $command"
	"$tmp/lbotune" run examples/mnist-logreg/spec.toml --study "$tmp/spec.study" 2>&1
} > "$tmp/text"
sed "s|$tmp|examples/mnist-logreg|g" "$tmp/text" |
	"$tmp/terminal" -first 13 -last 12 -columns 86 -pace 0.15 -title "$command" > docs/images/run.svg
"$tmp/lbotune" report "$tmp/spec.study" -o "$tmp/report.html"
sed -i "s|$tmp|examples/mnist-logreg|g" "$tmp/report.html"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$tmp/chromium" \
	--window-size=1000,1430 --screenshot="$tmp/report.png" "file://$tmp/report.html" 2> "$tmp/chromium.log"
cp "$tmp/report.png" docs/images/report.png
go -C bench test ./images -update
