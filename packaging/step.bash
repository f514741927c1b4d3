# step.bash - sourced by the checks of packages.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
set -eu
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
log=$work/log

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
