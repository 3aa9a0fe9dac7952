#!/bin/sh
# Compresses a file with xz's settings of one's own and prints the size.
#
#     compress.sh FILE LC LP PB MATCHFINDER NICE
set -e
file=$1 lc=$2 lp=$3 pb=$4 mf=$5 nice=$6
echo "compressing $file"
size=$(xz --stdout --format=raw --lzma2="lc=$lc,lp=$lp,pb=$pb,mf=$mf,nice=$nice" "$file" | wc -c)
if [ "$size" -eq 0 ]; then
    exit 1 # xz has said why
fi
echo "bytes: $size"
