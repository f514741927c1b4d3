#!/bin/sh
# bits.sh - the same bits for every number of processes.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/mpi/mpi.sh
. "$(dirname "$0")/mpi.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
counts='1 2 3 4 6 9'
[ "${TILEMM_TEST_QUICK:-}" = 1 ] && counts='1 4 6'
for count in $counts; do
    run 100 "$count" bits >"$work/out" 2>&1 || failed=1
    grep -v '^product' "$work/out"
    grep '^product' "$work/out" >>"$work/lines"
done
# A product has one line, however many processes printed it.
sort -u "$work/lines" | cut -d' ' -f2 | uniq -d >"$work/differ"
if [ -s "$work/differ" ]; then
    echo "FAILED: products with other bits for another number of processes:"
    sort "$work/lines"
    failed=1
fi
shared=$(cut -d' ' -f2 "$work/lines" | sort | uniq -d | wc -l)
if [ "$shared" -lt 6 ]; then
    echo "FAILED: only $shared products were compared"
    failed=1
fi
exit $failed
