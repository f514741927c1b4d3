#!/bin/sh
# access_sweep.sh - measures a table of warp accesses on this machine's GPU with ncu's counters, and
# compares the memory model with them. Not a test of `make check`: its output is kept, and
# tests/unit/access_sweep compares the model with it on any machine.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
#
# usage: access_sweep.sh OUT.csv
# Environment: NVCC (nvcc), NVCC_ARCH (native), NCU (ncu); SWEEP_TEST, the built tests/unit/access_sweep,
# to compare at once. Counters need a driver that lets this user read them.
set -u
[ $# -eq 1 ] || { echo "usage: $0 OUT.csv" >&2; exit 2; }
out=$1
here=$(cd "$(dirname "$0")" && pwd) || exit 1
nvcc=${NVCC:-nvcc}
ncu=${NCU:-ncu}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

$nvcc -std=c++17 -arch="${NVCC_ARCH:-native}" -I"$here/../../include" -I"$here/../.." \
    -o "$work/sweep" "$here/access_sweep.cu" || exit 1

# measure SPACE OP COUNTER COUNTER: rows of the accesses to that space by that operation. Each has a
# run of its own, so that a launch needs one pass for its few counters.
measure() {
    space=$1 op=$2 first=l1tex__$3_op_$2.sum second=l1tex__$4_op_$2.sum
    executed=smsp__inst_executed_op_${space}_$op.sum
    $ncu --clock-control none --cache-control none --csv --page raw --metrics "$executed,$first,$second" \
        --log-file "$work/ncu.csv" "$work/sweep" "$space" "$op" >"$work/list"
    status=$?
    device=$(sed -n 's/^device //p' "$work/list")
    if [ $status -ne 0 ] || [ -z "$device" ]; then
        grep -s '^==' "$work/ncu.csv" >&2
        echo "$0: $ncu did not measure (status $status)" >&2
        return 1
    fi

    # ncu's lines: all fields in double quotes; the names of the columns, their units, then one line
    # for each launch. The launches are in the order of the list.
    awk -v cc="${device%% *}" -v executed="$executed" -v first="$first" -v second="$second" '
        function figure(metric,    text) {
            if (!(metric in column)) {
                print "no column " metric >"/dev/stderr"
                exit failed = 1
            }
            text = fields[column[metric]]
            gsub(/,/, "", text)
            return text + 0
        }
        FNR == NR {
            if ($0 !~ /^device /)
                list[count++] = $0
            next
        }
        !/^"/ { next }
        {
            line = $0
            sub(/^"/, "", line)
            sub(/"[ \r]*$/, "", line)
            n = split(line, fields, /","/)
        }
        !header {
            for (i = 1; i <= n; i++)
                column[fields[i]] = i
            header = 1
            next
        }
        fields[column["ID"]] == "" { next } # the units
        {
            split(list[launches++], pattern, ",")
            name = list[launches - 1]
            sub(/^[^,]*,[^,]*,/, "", name)
            if (figure(executed) != 1) {
                print name ": not one instruction" >"/dev/stderr"
                exit failed = 1
            }
            printf "%s,%s,%s,%d,%d,%s\n", cc, pattern[1], pattern[2], figure(first), figure(second), name
        }
        END {
            if (!failed && launches != count) {
                print launches + 0 " launches measured of " count >"/dev/stderr"
                failed = 1
            }
            exit failed
        }' "$work/list" "$work/ncu.csv" >>"$work/rows"
}

for op in ld st; do
    measure shared "$op" data_pipe_lsu_wavefronts_mem_shared data_bank_conflicts_pipe_lsu_mem_shared &&
        measure global "$op" t_sectors_pipe_lsu_mem_global t_requests_pipe_lsu_mem_global || exit 1
done
sort -t , -k 2n "$work/rows" >"$work/sorted"
{
    echo "# Measured on one ${device#* } (compute capability by 10: ${device%% *}) by access_sweep.sh with"
    echo "# $($ncu --version | tail -n 1). cc,number,hash,first,second,name; of shared memory"
    echo "# first is wavefronts, second bank conflicts; of global memory sectors and requests."
    cat "$work/sorted"
} >"$work/out" && cp "$work/out" "$out" || exit 1
echo "$(wc -l <"$work/rows") accesses measured on ${device#* }"
if [ -n "${SWEEP_TEST:-}" ]; then
    SWEEP=$out "$SWEEP_TEST"
fi
