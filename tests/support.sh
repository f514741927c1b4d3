# support.sh - what the tests of the command share: sourced by them. Finds the command, forgets the
# user's settings, and moves to a folder that goes away at the end.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh

TILEMM=${TILEMM:-./tilemm}
case $TILEMM in
*/*) TILEMM=$(cd "$(dirname "$TILEMM")" && pwd)/$(basename "$TILEMM") ;;
esac
unset TILEMM_BACKEND TILEMM_ARCH TILEMM_NUM_THREADS TILEMM_MATH TILEMM_LOG TILEMM_REFERENCE_BLAS

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1

# shellcheck disable=SC2034 # counted by the tests
checks=0
failures=0
fail() {
    failures=$((failures + 1))
    echo "failed: $*" >&2
}
