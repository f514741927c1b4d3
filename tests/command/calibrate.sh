#!/bin/sh
# calibrate.sh - tilemm bench --calibrate: on a GPU every constant is printed, and the time of a k-step is
# above zero for every tile that the GPU runs.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"

# Tiles in the table's order. Fitted tiles are measured apart, "rest" and invariant products not at all.
tiles_of() { # table or tool, from stdin: the extents in each tile's name
    awk -F '"' '/^    {[A-Z0-9_]*[("]+[a-z0-9]/ && $2 !~ /^(fitted|rest|half)_/ {
        sub(/^planes_/, "", $2)
        print match($2, /[0-9]+x[0-9]+(x[0-9]+)?/) ? substr($2, RSTART, RLENGTH) : $2
    }'
}
checks=$((checks + 1))
tiles_of <"$source/lib/sgemm/cost_table_cuda.c" >table
tiles_of <"$source/tools/bench_calibrate.c" >measured
[ "$(wc -l <table)" -ge 50 ] || fail "only $(wc -l <table) tiles in the table"
cmp -s table measured || {
    diff table measured
    fail "bench --calibrate measures other tiles than the table has"
}

if ! "$TILEMM" info | grep -q '^backend cuda  *usable'; then
    run_command 1 bench --calibrate
    has stderr 'calibrate needs a GPU'
    [ $failures -eq 0 ] || exit 1
    echo "skipped: the library has no GPU to run on"
    exit 77
fi

run_command 0 bench --calibrate
# Each tile and family that the source has.
sed -n 's/^    {"\([a-z0-9_]*\)",.*/{"\1",/p; s/^    .\(TILEMM__OF_[A-Z_]*\). .*/.\1. /p' \
    "$source/lib/sgemm/cost_table_cuda.c" >names
checks=$((checks + 1))
[ "$(wc -l <names)" -ge 30 ] || fail "only $(wc -l <names) names in the source"
while read -r name; do
    has stdout "$name"
done <names
# Tiles in the source's order, in which it counts them.
checks=$((checks + 1))
sed -n 's/^    {"\([a-z0-9_]*\)",.*/\1/p' "$source/lib/sgemm/cost_table_cuda.c" >tiles
grep -o '{"[a-z0-9_]*",' stdout | tr -d '{",' >printed
cmp -s tiles printed || {
    diff tiles printed
    fail "tiles are printed in another order"
}
for constant in short_side 'gather_bytes\[0]' 'gather_rows\[0]' gather_cols small_tiles; do
    has "$source/lib/transpose/cost_cuda.c" "\.${constant%??0]} = "
    has stdout "\.$constant = [1-9]"
done
for constant in held_warps split_tiles split4_tiles column_blocks narrow_columns; do
    has "$source/lib/reduce/cost_cuda.c" "\.$constant = "
    has stdout "\.$constant = [1-9]"
done
# {"tile", blocks, start, item_alone, step_alone, item, step}
checks=$((checks + 1))
awk -F '[,}]' '/^    [{]"/ && !/not on this device/ && ($5 <= 0 || $7 <= 0)' stdout >impossible
[ ! -s impossible ] || fail "steps that take no time: $(cat impossible)"

cat stdout
echo "$checks checks, $failures failed"
[ $failures -eq 0 ]
