#!/bin/sh
# Installs drome for Linux on x86-64 or 64-bit ARM: gets the archive of one release, compares its SHA-256 with the release's list, and
# puts the binary into ~/.local/bin.
#
#   DROME_VERSION      the release [0.1.0]
#   DROME_INSTALL_DIR  where the binary goes [~/.local/bin]
#   DROME_DOWNLOADS    address of the folder with the release's files [the project's release page]
set -eu

version=${DROME_VERSION:-0.1.0}
to=${DROME_INSTALL_DIR:-$HOME/.local/bin}
from=${DROME_DOWNLOADS:-https://github.com/drome-bench/drome/releases/download/v$version}

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

get() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget --quiet --output-document "$2" "$1"
    else
        fail "curl or wget is needed: install one of them"
    fi || fail "can't get $1: check the network and the version, or set DROME_DOWNLOADS"
}

[ "$(uname -s)" = Linux ] || fail "drome runs on Linux only; this is $(uname -s)"
case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no binary for $(uname -m): build drome from its source, with cargo install drome" ;;
esac

name=drome-$version-$machine-linux
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
get "$from/$name.tar.gz" "$work/$name.tar.gz"
get "$from/SHA256SUMS" "$work/SHA256SUMS"
(cd "$work" && grep " $name.tar.gz\$" SHA256SUMS | sha256sum --check --status) ||
    fail "$name.tar.gz does not have the SHA-256 that the release lists: do not use it, and report this"
tar -xzf "$work/$name.tar.gz" -C "$work"
mkdir -p "$to"
mv "$work/$name/drome" "$to/drome"
echo "drome $version is installed: $to/drome"
case ":$PATH:" in
    *":$to:"*) ;;
    *) echo "$to is not on your PATH; add it: export PATH=\"$to:\$PATH\"" ;;
esac
