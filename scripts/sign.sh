#!/usr/bin/env bash
# Writes the checksums of the archives in a directory, and signs them if MINISIGN_KEY names a
# key: one without a password, where nobody is asked for it. SECURITY.md says how to verify both.
#
#     scripts/sign.sh DIRECTORY
set -euo pipefail
cd "$1"

if command -v sha256sum >/dev/null; then
	sha256sum -- *.tar.gz >SHA256SUMS
else
	shasum -a 256 -- *.tar.gz >SHA256SUMS
fi
cat SHA256SUMS
if [ -n "${MINISIGN_KEY:-}" ]; then
	minisign -S -s "$MINISIGN_KEY" -m SHA256SUMS
else
	echo "SHA256SUMS is not signed: MINISIGN_KEY names no key" >&2
fi
