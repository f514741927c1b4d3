#!/bin/sh
# numpy.sh - NumPy with the BLAS drop-in: see products.py.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Environment: TILEMM_BLAS_LIB, the drop-in; PYTHON, a Python with NumPy (python3, or /usr/bin/python3);
# SECONDS_EACH, how long 8 threads and 4 children compute (1); MODES, values of TILEMM_BLAS.
set -u
here=$(cd "$(dirname "$0")" && pwd)
python=
for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$candidate
done
if [ ! -f "${TILEMM_BLAS_LIB:-}" ] || [ -z "$python" ]; then
    echo "skipped: no drop-in was built, or no Python has NumPy"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
LD_LIBRARY_PATH=$(dirname "$TILEMM_BLAS_LIB")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
for mode in ${MODES:-auto cpu off}; do
    LD_PRELOAD=$TILEMM_BLAS_LIB TILEMM_BLAS=$mode TILEMM_BLAS_REPORT=1 \
        "$python" "$here/products.py" "${SECONDS_EACH:-1}" >out 2>err || { cat out err && exit 1; }
    cat out
    where=cpu
    [ "$mode" != off ] || where='blas behind'
    grep -E "^sgemm +$where " err || { cat err && exit 1; }
    grep -E "^sdot +$where " err || { cat err && exit 1; }
done
