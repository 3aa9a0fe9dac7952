#!/usr/bin/env bash
# Builds a release into dist/: for each platform an archive with the static
# program, its manual pages and completions, and a list of the modules in it
# (CycloneDX); and the checksums of all archives, signed if MINISIGN_KEY names a key.
#
#     scripts/release.sh [VERSION [OS/ARCH...]]      default: what git describe says, and all that
#                                                    are supported
#
# The same commit, built with the same Go and GNU tar, gives the same bytes.
set -euo pipefail
umask 022
cd "$(dirname "$0")/.."

version=${1:-$(git describe --tags --always --dirty)}
targets=("${@:2}")
[ $# -gt 1 ] || targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64)
dist=$PWD/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # OS ARCH OUTPUT
	CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go build -trimpath -buildvcs=false \
		-ldflags "-s -w -X main.stamped=$version" -o "$3" ./cmd/lbotune
}

# The manual and the completions are the same everywhere; a program for this
# machine writes them.
build "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$work/lbotune"
"$work/lbotune" version | grep -qF " $version " || { echo "the version was not stamped" >&2; exit 1; }
"$work/lbotune" manual "$work/share/man/man1"
mkdir -p "$work/share/completions"
for shell in bash zsh fish; do
	"$work/lbotune" completion "$shell" >"$work/share/completions/lbotune.$shell"
done

# Of a tool that is no module of ours: without a network there is no list.
lists=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
CGO_ENABLED=0 GOFLAGS=-trimpath GOBIN=$work/bin $(command -v timeout >/dev/null && echo timeout 120) go install "$lists" 2>/dev/null ||
	echo "the archives have no sbom.cdx.json: $lists cannot be had" >&2

tarflags=()
if tar --version 2>/dev/null | grep -q GNU; then
	tarflags=(--sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rwX,go=rX)
fi

rm -rf "$dist"
mkdir -p "$dist"
for target in "${targets[@]}"; do
	name=lbotune-$version-${target%/*}-${target#*/}
	mkdir -p "$work/$name"
	build "${target%/*}" "${target#*/}" "$work/$name/lbotune"
	cp -R LICENSE README.md CHANGELOG.md "$work/share" "$work/$name/"
	cp cmd/lbotune/notices.txt "$work/$name/THIRD_PARTY.txt"
	if [ -x "$work/bin/cyclonedx-gomod" ]; then
		"$work/bin/cyclonedx-gomod" bin -json -noserial -notimestamp -std -version "$version" -output "$work/$name/sbom.cdx.json" "$work/$name/lbotune" 2>/dev/null
	fi
	tar -C "$work" ${tarflags[@]+"${tarflags[@]}"} -cf - "$name" | gzip -n -9 >"$dist/$name.tar.gz"
	echo "$name.tar.gz"
done

scripts/sign.sh "$dist"
