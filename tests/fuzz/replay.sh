#!/bin/sh
# replay.sh - the fuzz targets on their seeds, and on some mutations of them.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

seeds=$(cd "$(dirname "$0")/seeds" && pwd) || exit 1
runs=2000
[ "${TILEMM_TEST_QUICK-0}" != 1 ] || runs=200
for target in npy tuning api; do
    # shellcheck disable=SC2086 # $RUN is empty, or an emulator with its options
    $RUN "tests/fuzz/$target" -runs=$runs "$seeds/$target" || exit 1
done
