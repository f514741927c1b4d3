#!/bin/sh
# random.sh - random products and transposes on 1, 2, 3, 4, 6 and 9 processes.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/mpi/mpi.sh
. "$(dirname "$0")/mpi.sh"
failed=0
products=300
[ "${TILEMM_TEST_QUICK:-}" = 1 ] && products=40
for count in 1 2 3 4 6 9; do
    run 200 "$count" random "$products" || failed=1
done
# More processes once.
run 200 16 random $((products / 10)) || failed=1
exit $failed
