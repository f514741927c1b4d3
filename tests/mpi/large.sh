#!/bin/sh
# large.sh - a matrix of more than 2^31 elements a process.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
set -u
if [ "${TILEMM_TEST_QUICK:-}" = 1 ]; then
    echo "skipped: TILEMM_TEST_QUICK=1"
    exit 77
fi
# shellcheck source=tests/mpi/mpi.sh
. "$(dirname "$0")/mpi.sh"
failed=0
for count in 1 2; do
    run 200 "$count" large || failed=1
done
exit $failed
