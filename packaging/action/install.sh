#!/usr/bin/env bash
# Gets drome for the action, and names the program in the step's output `drome`.
#
#   DROME_ACTION_BINARY   path of a program; empty: a release is installed
#   DROME_ACTION_VERSION  the release; empty: the one that belongs to this version of the action
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

binary=${DROME_ACTION_BINARY:-}
version=${DROME_ACTION_VERSION:-}
if [[ -n $binary ]]; then
    [[ -f $binary && -x $binary && $binary != *$'\n'* ]] ||
        fail "the input binary names no program: $binary; name an executable file"
    drome=$(realpath -- "$binary")
else
    [[ $version =~ ^[0-9A-Za-z.+-]*$ ]] || fail "the input version is no version: $version; write it like 0.1.0"
    DROME_VERSION=${version#v} DROME_INSTALL_DIR=$RUNNER_TEMP/drome-program sh "$here/../install.sh"
    drome=$RUNNER_TEMP/drome-program/drome
fi
"$drome" --version
echo "drome=$drome" >> "$GITHUB_OUTPUT"
