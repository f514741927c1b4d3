#!/bin/sh
# npy_memory.sh - files that are larger than the memory that the command may have: inputs and results
# are mappings of their files.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"

# npy SHAPE TYPE: the header of a file.
npy() {
    printf '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': $1, }"
}
# floats COUNT SEED: different ones, from 1 to 2.
floats() {
    awk -v count="$1" -v x="$2" 'BEGIN { for (i = 0; i < count; i++) {
        x = (x * 1103515245 + 12345) % 2147483648
        printf "\\%03o\\%03o\\%03o\\077", x % 256, int(x / 256) % 256, 128 + int(x / 65536) % 128 } }' \
        >escapes
    # shellcheck disable=SC2059
    printf "$(cat escapes)"
}
# The memory for data, in KiB, and what the results take: more.
limit=60000
limited() {
    (
        # shellcheck disable=SC3045 # dash and bash have it
        ulimit -d $limit || exit 3
        "$TILEMM" "$@" --threads 1 --backend cpu 2>stderr
    )
}
TILEMM_ARCH=generic # few bytes for packed panels
export TILEMM_ARCH

{ npy '(4, 4)' '<f4' && floats 16 5; } >small.npy
if ! limited transpose small.npy -o out.npy; then
    echo "skipped: the command does not run with $limit KiB: $(cat stderr)"
    exit 77
fi
rows=5000 # 100 MB of results
{ npy "($rows, 2)" '<f4' && floats $((rows * 2)) 3; } >a.npy
{ npy "(2, $rows)" '<f4' && floats $((rows * 2)) 4; } >b.npy

checks=$((checks + 1))
"$TILEMM" gemm a.npy b.npy -o free.npy --backend cpu --threads 1 || fail "gemm"
limited gemm a.npy b.npy -o limited.npy || fail "gemm: $(cat stderr)"
cmp free.npy limited.npy || fail "gemm has another result with little memory"
checks=$((checks + 1))
[ "$(wc -c <limited.npy)" -eq $((128 + rows * rows * 4)) ] || fail "the result's size"

# the old C is added to: it is read, and replaced by another file
checks=$((checks + 1))
"$TILEMM" gemm a.npy b.npy -o free.npy --beta -1 --alpha 2 --backend cpu --threads 1 || fail "beta"
limited gemm a.npy b.npy -o limited.npy --beta -1 --alpha 2 || fail "beta: $(cat stderr)"
cmp free.npy limited.npy || fail "gemm with beta has another result with little memory"

# what is larger than the memory is an input too
checks=$((checks + 1))
limited transpose limited.npy -o there.npy || fail "transpose: $(cat stderr)"
limited transpose there.npy -o back.npy || fail "transpose back: $(cat stderr)"
cmp limited.npy back.npy || fail "a transpose of the transpose is something else"
cmp -s limited.npy there.npy && fail "a transpose that is no other matrix"
checks=$((checks + 1))
free=$("$TILEMM" reduce sum there.npy --backend cpu --threads 1)
got=$(limited reduce sum there.npy)
{ [ "$free" = "$got" ] && [ -n "$got" ]; } || fail "sum: '$got', not '$free' ($(cat stderr))"

# where a file cannot have that many bytes the old one stays, and nothing else is left
checks=$((checks + 1))
echo old >old.npy
(
    ulimit -f 1000 || exit 0 # of 512 or 1024 bytes
    trap '' XFSZ
    "$TILEMM" gemm a.npy b.npy -o old.npy --backend cpu 2>stderr
    [ $? -eq 1 ] && grep -q 'old.npy: cannot be written' stderr
) || fail "a result that is larger than a file may be: $(cat stderr)"
[ "$(cat old.npy)" = old ] || fail "the old file is gone"
checks=$((checks + 1))
for file in .tilemm-*; do
    [ ! -e "$file" ] || fail "left $file"
done

echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
