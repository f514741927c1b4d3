# support.sh - sourced by the tests of the command: finds the command, forgets the user's settings, and
# changes to a temporary folder, which is removed at the end.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh

TILEMM=${TILEMM:-./tilemm}
case $TILEMM in
*/*) TILEMM=$(cd "$(dirname "$TILEMM")" && pwd)/$(basename "$TILEMM") ;;
esac
if ! command -v "$TILEMM" >/dev/null; then
    echo "skipped: the command was not built"
    exit 77
fi
unset TILEMM_BACKEND TILEMM_ARCH TILEMM_NUM_THREADS TILEMM_MATH TILEMM_LOG TILEMM_REFERENCE_BLAS TILEMM_VARIANT
unset TILEMM_TUNING TILEMM_TIMELINE TILEMM_INVARIANCE TILEMM_DEVICES TILEMM_PEER

# shellcheck source=tests/support/share_gpus.sh
. "$(dirname "$0")/../support/share_gpus.sh"

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
XDG_CONFIG_HOME=$dir/config # not the user's file of tuning
export XDG_CONFIG_HOME

# shellcheck disable=SC2034 # counted by the tests
checks=0
failures=0
fail() {
    failures=$((failures + 1))
    echo "failed: $*" >&2
}

# run_command STATUS ARGUMENT...: the command must exit with that status, and print a message if it is
# not 0. Its output is in the files stdout and stderr.
run_command() {
    wanted=$1
    shift
    checks=$((checks + 1))
    "$TILEMM" "$@" >stdout 2>stderr </dev/null
    status=$?
    [ $status -eq "$wanted" ] || fail "status $status, must be $wanted: $* ($(cat stderr))"
    [ "$wanted" -eq 0 ] || grep -q '^tilemm: ' stderr || fail "no message: $*"
}
# has FILE PATTERN: a line of the file must match.
has() {
    checks=$((checks + 1))
    grep -q -e "$2" "$1" || fail "no '$2' in $1: $(cat "$1")"
}
