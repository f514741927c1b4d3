#!/bin/sh
# environment.sh - the BLAS drop-in's variables: TILEMM_BLAS, TILEMM_BLAS_REPORT, TILEMM_LOG and
# those of the library, with wrong values too.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Environment: TILEMM_BLAS_LIB, the drop-in; CALLS, the program calls.
set -u
if [ ! -f "${TILEMM_BLAS_LIB:-}" ]; then
    echo "skipped: no drop-in was built"
    exit 77
fi
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset TILEMM_BLAS TILEMM_BLAS_REPORT TILEMM_LOG TILEMM_MATH

# run LINES [VARIABLE=VALUE]... -- [ARGUMENT]: calls succeeds, prints nothing to standard output and
# so many lines to $work/err.
run()
{
    lines=$1
    shift
    what=$*
    variables=
    while [ "$1" != -- ]; do
        variables="$variables $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # words
    env $variables "$CALLS" "$@" >"$work/out" 2>"$work/err" ||
        fail "$what: exit status $?"
    [ ! -s "$work/out" ] || fail "$what: standard output"
    [ "$(wc -l <"$work/err")" = "$lines" ] || fail "$what: not $lines lines"
}

fail()
{
    echo "FAILED: $*"
    cat "$work/err"
    failed=1
}

# has PATTERN COUNT: so many lines of the last run.
has()
{
    [ "$(grep -c -- "$1" "$work/err")" = "$2" ] || fail "$what: not $2 of '$1'"
}

for mode in '' auto cpu off; do
    run 0 TILEMM_BLAS=$mode --
done
run 0 TILEMM_BLAS_REPORT=0 TILEMM_BLAS_REPORT= --
run 1 TILEMM_BLAS=fast --
has 'TILEMM_BLAS = fast, must be auto, cpu, cuda or off' 1
run 1 TILEMM_BLAS_REPORT=yes --
has 'TILEMM_BLAS_REPORT = yes, must be 0 or 1' 1

# Without a context of the library results are right all the same.
run 1 TILEMM_MATH=fp31 --
has 'tilemm-blas: .*TILEMM_MATH = fp31' 1

# Where the GPU was wanted and is none, the CPU computes.
if [ ! -e /dev/nvidiactl ]; then
    run 1 TILEMM_BLAS=cuda --
    has 'no GPU can be used, the CPU goes on: create: ' 1
fi

# Each call that libtilemm gets is a line: 4 + 1 products, 5 of vectors, 2 copies.
run 12 TILEMM_BLAS=auto TILEMM_LOG=1 --
run 12 TILEMM_BLAS=cpu TILEMM_LOG=1 --
has '^tilemm bench gemm --sizes 4x4x4 --layout col .* --backend cpu' 4
has '^tilemm bench gemm --sizes 500x500x500 --layout row --trans nt .* --backend cpu' 1
has '^tilemm bench gemm --sizes 4x4x4 --layout col --trans tn .* --batch 5 --stride-a 16' 1
has '^tilemm bench reduce --op dot --sizes 10 --inc 1 --inc-y 2' 2
has '^tilemm bench reduce --op i*amax --sizes 100' 1
has '^tilemm bench transpose --sizes 3x4' 2

# The report, which takes two lines more: routine, where, calls, seconds.
run 12 TILEMM_BLAS=cpu TILEMM_BLAS_REPORT=1 --
has '^sgemm  *cpu  *4  *[0-9.]*$' 1
has '^sgemm  *nothing  *1  *0.000000$' 1
has '^sgemm_batch_strided  *cpu  *1 ' 1
has '^sdot  *cpu  *2 ' 1
has '^sdot  *loops  *1 ' 1
has '^sasum  *cpu  *1 ' 1
has '^snrm2  *cpu  *1 ' 1
has '^isamax  *cpu  *1 ' 1
has '^somatcopy  *cpu  *1 ' 1
has '^simatcopy  *cpu  *1 ' 1

# A child reports what it did, and not what its parent did before.
run 24 TILEMM_BLAS=cpu TILEMM_BLAS_REPORT=1 -- fork
has '^sgemm  *cpu  *4 ' 2
has 'calls of process' 2
[ $failed = 0 ] && echo "all passed"
exit $failed
