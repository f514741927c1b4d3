#!/bin/sh
# netlib.sh - netlib's testers of level 1 and level 3, in Fortran and in C, of single precision, pass
# with the BLAS drop-in before the reference BLAS (Debian: libblas-test, libblas3).
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Environment: TILEMM_BLAS_LIB, the drop-in; TESTERS, the folder of the testers.
set -u
testers=${TESTERS:-}
for folder in /usr/lib/*/blas /usr/lib/blas; do
    [ -n "$testers" ] || [ ! -x "$folder/xblat1s" ] || testers=$folder
done
if [ ! -f "${TILEMM_BLAS_LIB:-}" ] || [ -z "$testers" ]; then
    echo "skipped: no drop-in was built, or netlib's testers are not installed"
    exit 77
fi
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# The reference, in the same folder: xscblat3 needs its names.
LD_LIBRARY_PATH=$testers:$(dirname "$TILEMM_BLAS_LIB")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# tester NAME PASSES PATTERN [INPUT]: so many lines of its output say that something passed, none that
# it failed, and the drop-in has computed.
tester()
{
    LD_PRELOAD=$TILEMM_BLAS_LIB TILEMM_BLAS_REPORT=1 "$testers/$1" <"${4:-/dev/null}" >out 2>err
    status=$?
    cat ./*.out >>out 2>/dev/null
        if [ $status != 0 ] || [ "$(grep -c -i -e "$3" out)" != "$2" ] || grep -i 'fail' out ||
        ! grep -E "^[a-z0-9_]+  *$where " err; then
        echo "FAILED: $1, TILEMM_BLAS=$TILEMM_BLAS, exit status $status"
        cat out err
        failed=1
    fi
    rm -f ./*.out
}

for TILEMM_BLAS in auto cpu cuda off; do
    export TILEMM_BLAS
    where=cpu
    [ $TILEMM_BLAS != off ] || where='blas behind'
    [ $TILEMM_BLAS != cuda ] || [ ! -e /dev/nvidiactl ] || where='(cuda|cpu)'
    tester xblat1s 13 '- PASS -'
    tester xblat3s 2 'SGEMM  PASSED THE' "$testers/sblat3.in"
    tester xscblat1 10 '- PASS -'
    tester xscblat3 3 'cblas_sgemm  PASSED THE' "$testers/sin3"
done
[ $failed = 0 ] && echo "all passed"
exit $failed
