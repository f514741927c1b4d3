#!/bin/sh
# throughput.sh - our rates next to those of OpenBLAS, cuBLAS, CUB and the copy engine, as `tilemm
# bench` measures them: medians of interleaved runs. The test fails for no rate unless
# TILEMM_CHECK_MIN_RATIO is set: then every row must reach that ratio. Skipped where there is no
# library to compare with.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
reference=${TILEMM_REFERENCE_BLAS-}
# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"
[ -z "$reference" ] || export TILEMM_REFERENCE_BLAS="$reference"

least=${TILEMM_CHECK_MIN_RATIO:-0}
if ! echo "$least" | grep -Eq '^[0-9]*\.?[0-9]+$'; then
    echo "TILEMM_CHECK_MIN_RATIO=$least is no ratio" >&2
    exit 1
fi
quick=0
[ "${TILEMM_TEST_QUICK:-}" != 1 ] || quick=1

# compare PEER ARGUMENT...: the ratio to the peer whose name begins so must be at least $least. Without
# that peer there is none. A line of CSV ends with ratio, error, kind of error, error by the norm.
compare() {
    peer=$1
    shift
    run_command 0 bench "$@" --csv rates
    cat stdout
    awk -F , -v peer="\"$peer" 'index($0, peer) { print $(NF - 3) }' rates >ratios
    while read -r ratio; do
        checks=$((checks + 1))
        rows=$((rows + 1))
        awk -v ratio="$ratio" -v least="$least" 'BEGIN { exit !(ratio >= least) }' ||
            fail "$peer: the ratio $ratio is below TILEMM_CHECK_MIN_RATIO: bench $*"
    done <ratios
}

# size QUICK LONG: the one that this run takes.
size() {
    if [ $quick = 1 ]; then echo "$1"; else echo "$2"; fi
}

rows=0
"$TILEMM" info >machine
if grep -q '^compares with  *OpenBLAS' machine; then
    processors=$(getconf _NPROCESSORS_ONLN)
    for threads in 1 2; do
        [ $threads -le "$processors" ] || continue
        set -- --backend cpu --threads $threads
        compare OpenBLAS gemm "$@" --sizes "$(size 200 1024)"
        compare somatcopy transpose "$@" --sizes "$(size 300x300 4096x4096)"
        compare OpenBLAS reduce "$@" --sizes "$(size 65536 16777216)"
    done
fi
if grep -q '^backend cuda  *usable' machine; then
    set -- --backend cuda
    for trans in nn tn nt tt; do
        compare cuBLAS gemm "$@" --sizes "$(size 512 4096)" --layout col --trans $trans --math strict
    done
    compare 'device copy' transpose "$@" --sizes "$(size 1024x1024 8192x8192)"
    compare CUB reduce "$@" --sizes "$(size 4194304 268435456)"
fi

echo "$checks checks, $failures failed"
[ $failures -eq 0 ] || exit 1
if [ $rows -eq 0 ]; then
    echo "skipped: no library to compare with"
    exit 77
fi
