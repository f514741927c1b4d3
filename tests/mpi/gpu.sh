#!/bin/sh
# gpu.sh - random products on 1, 2 and 4 processes that share one GPU, operands on the host and on the GPU.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/mpi/mpi.sh
. "$(dirname "$0")/mpi.sh"
failed=0
products=90
[ "${TILEMM_TEST_QUICK:-}" = 1 ] && products=30
# Alone, so that it can say that there is no GPU.
"$MPI_TESTS/random" 1 cuda
status=$?
[ $status -eq 77 ] && exit 77
[ $status -eq 0 ] || failed=1
for count in 1 2 4; do
    for where in cuda device; do
        run 120 "$count" random "$products" "$where" || failed=1
    done
done
# Many panels; not by interprocess memory.
TILEMM_MPI_PANEL=16 run 120 2 random "$products" device || failed=1
TILEMM_MPI_IPC=0 run 120 2 random "$products" device || failed=1
exit $failed
