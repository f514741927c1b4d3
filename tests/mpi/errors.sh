#!/bin/sh
# errors.sh - arguments that are wrong, or differ, on one of two and of six processes.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/mpi/mpi.sh
. "$(dirname "$0")/mpi.sh"
failed=0
for count in 2 6; do
    run 60 "$count" errors || failed=1
    run 60 "$count" errors check || failed=1
done
exit $failed
