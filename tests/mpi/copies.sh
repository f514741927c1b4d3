#!/bin/sh
# copies.sh - random products on 2, 3 and 4 processes with a GPU each that is not there (simulated_driver.c):
# their panels are copied from the others' memory, or travel by MPI where it cannot be opened. Panels of few lines are many.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/mpi/mpi.sh
. "$(dirname "$0")/mpi.sh"
driver=$(pwd)/.libs/libsimulated_driver.so
if [ ! -f "$driver" ] || [ ! -f .libs/libtilemm.so ]; then
    echo "skipped: no shared libraries"
    exit 77
fi
if [ -n "${RUN:-}" ] || nm -D .libs/libtilemm.so | grep -q '__[at]san_'; then
    echo "skipped: what is preloaded must come first"
    exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
ln -s "$driver" "$dir/libcuda.so.1" || exit 1
failed=0
products=90
[ "${TILEMM_TEST_QUICK:-}" = 1 ] && products=30
# simulated PROCESSES [VARIABLE=VALUE...]
simulated()
{
    count=$1
    shift
    echo "$count processes $*"
    timeout 200 "$mpirun" -n "$count" env LD_PRELOAD="$dir/libcuda.so.1" \
        LD_LIBRARY_PATH="$dir:$(pwd)/.libs" "$@" "$MPI_TESTS/random" "$products" simulated || failed=1
}
for count in 2 3 4; do
    simulated "$count" SIMULATED_LEAST=8
    simulated "$count" SIMULATED_LEAST=8 TILEMM_MPI_PANEL=16
done
simulated 2 SIMULATED_LEAST=0 SIMULATED_CLOSED=1
simulated 4 SIMULATED_LEAST=0 SIMULATED_CLOSED=3
simulated 2 SIMULATED_LEAST=0 SIMULATED_ONE_GPU=1
simulated 2 SIMULATED_LEAST=0 TILEMM_MPI_IPC=0
exit $failed
