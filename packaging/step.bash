# step.bash - sourced by the checks of packages.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
log=$work/log

# needs COMMAND...: 77 says that the check was left out.
needs() {
    local tool
    [ "$(id -u)" = 0 ] || { echo "needs root" && exit 77; }
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "no $tool" && exit 77; }
    done
}

# find_tarball [TARBALL]: sets tarball; without one it is made of the last commit.
find_tarball() {
    if [ $# != 0 ]; then
        tarball=$(realpath "$1")
        return
    fi
    git clone -q "$here/.." "$work/clone"
    (cd "$work/clone" && autoreconf -fi && ./configure --without-cuda && make dist-gzip) >"$log" 2>&1 ||
        { tail -n 20 "$log" && exit 1; }
    tarball=$(echo "$work"/clone/libtilemm-*.tar.gz)
}

# step NAME COMMAND...: run it in a shell of its own; its end is shown if it fails, and nothing follows.
step() {
    local -r name=$1 start=$SECONDS
    local status
    shift
    printf '== %s\n' "$name"
    set +e # bash ignores -e within a condition
    (set -e; "$@") >"$log" 2>&1
    status=$?
    set -e
    if [ $status != 0 ]; then
        tail -n 60 "$log"
        printf '   FAILED: %s (%d s)\n' "$name" $((SECONDS - start))
        exit 1
    fi
    printf '   passed (%d s)\n' $((SECONDS - start))
}
