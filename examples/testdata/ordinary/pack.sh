#!/bin/sh
level=3 window=8
while [ $# -gt 0 ]; do
	case $1 in
	--level) level=$2; shift ;;
	--window) window=$2; shift ;;
	esac
	shift
done
echo "size: $(((level - 7) * (level - 7) * 10 + (window - 20) * (window - 20) + 500)) bytes"
