#!/bin/sh
# bench_host.sh - `tilemm bench` with operands in each kind of memory, beside cublasXt and the bound,
# and the timeline: on a GPU that is made of host memory (fake_gpu.c).
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause

source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/support/support.sh
. "$(dirname "$0")/../support/support.sh"

bad() { # MESSAGE ARGUMENT...: a usage error
    message=$1
    shift
    run_command 2 bench "$@"
    has stderr "$message"
}
bad 'takes device, pinned, pageable or managed' gemm --memory host
bad 'memory is for the cuda backend' gemm --memory pinned --backend cpu
bad 'memory is not an option of bench$' --memory pinned
for bytes in 0 -1 4X 4GB G 1.5G 99999999999999999999 9999999999T ''; do
    bad 'takes a number of bytes from 1' gemm --memory pinned --device-memory "$bytes"
done
bad 'is for operands on the host' gemm --device-memory 4G
bad 'is for operands on the host' transpose --device-memory 4G --memory managed
for devices in '' x '0,' ,0 0,,1 0,-1 '0 1' 0,1,x 99999999999; do
    bad 'takes numbers from 0 with commas' gemm --devices "$devices"
done
bad 'exclude each other' gemm --devices 0,1 --device 1
bad 'devices is for the cuda backend' gemm --devices 0 --backend cpu
bad 'OpenBLAS does not run' gemm --devices 0 --vs openblas
bad 'devices is not an option of bench$' --devices 0
bad 'is not an option of bench transpose' transpose --timeline a.svg --memory pinned
bad 'is for operands on the host' gemm --timeline a.svg --sizes 8
bad 'is of one size' gemm --timeline a.svg --memory pinned
bad 'is of one size' gemm --timeline a.svg --memory pinned --sizes 8,9
bad 'ends with .svg' gemm --timeline a.png --memory pinned --sizes 8
bad 'exclude each other' gemm --timeline a.svg --memory pinned --sizes 8 --batch 2
run_command 1 bench gemm --sizes 8 --memory pinned --device-memory 1M --timeline no/where.svg
has stderr 'no/where.svg'

# Where there is a GPU
run_command 0 info
if grep -q '^backend cuda  *usable' stdout; then
    run_command 0 bench gemm --sizes 3000 --memory pinned --device-memory 16M --backend cuda --reps 2 --timeline time.svg
    has stdout 'pinned, at most 16 MiB of the device.s'
    has stdout 'bound: .*GB/s$'
    for stream in up compute down; do
        has time.svg ">$stream<"
    done
    run_command 0 bench gemm --sizes 700 --memory pageable --backend cuda --reps 2
    run_command 0 bench gemm --sizes 700 --memory managed --backend cuda --reps 2
    run_command 0 bench transpose --sizes 700x900 --memory pinned --backend cuda --reps 2
    has stdout 'exact'
    run_command 0 bench reduce --sizes 1000000 --memory pageable --backend cuda --reps 2
    has stdout 'bound: link'
fi

if [ ! -f "$TILEMM_LIB" ] || ! command -v "$CC" >/dev/null; then
    echo "skipped the rest: no shared library, or no compiler; $checks checks, $failures failed"
    [ $failures -eq 0 ]
    exit
fi

# ---- a GPU -----------------------------------------------------------------------------

build=$(cd "$(dirname "$TILEMM_LIB")/.." && pwd)
made() { # FILE DEFINITION
    # shellcheck disable=SC2086 # flags are words
    $CC -shared -fPIC -O2 -w -D"$2" -I"$source" -I"$source/include" -I"$build" "$source/tests/command/fake_gpu.c" \
        -o "$1" -ldl || fail "$1 cannot be built"
}
mkdir gpu
made gpu/libcuda.so.1 DRIVER
made gpu/libtilemm-cuda.so MODULE
made gpu/libcublas.so.13 CUBLAS
TILEMM_MODULE_DIR=$dir/gpu
LD_LIBRARY_PATH=$dir/gpu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export TILEMM_MODULE_DIR LD_LIBRARY_PATH

run_command 0 info
if ! grep -q '^backend cuda  *usable' stdout; then
    echo "skipped the rest: the fake GPU is not taken; $checks checks, $failures failed"
    [ $failures -eq 0 ]
    exit
fi

bench() {
    run_command 0 bench "$@" --backend cuda --reps 2
    checks=$((checks + 1))
    [ ! -s stderr ] || fail "bench $*: $(cat stderr)"
}
hasnt() {
    checks=$((checks + 1))
    ! grep -q -e "$2" "$1" || fail "'$2' in $1: $(cat "$1")"
}

# Operands lie where they are said to, the results are right, and all is freed (or the driver says so).
# Work that has finished when the call returns is not captured.
FAKE_NO_CAPTURE=1
export FAKE_NO_CAPTURE
for memory in pinned:ppp pageable:hhh; do
    for layout in row col; do
        bench gemm --sizes 33x20x50,16 --memory ${memory%:*} --layout $layout --trans tn --beta 2 --alpha -3
        has stdout "^SGEMM, .*, alpha -3, beta 2, ${memory%:*}, against cuBLAS 13"
        has stdout "33x20x50 .* fake_${memory#*:}+limit0$"
        has stdout "16x16x16 .* fake_${memory#*:}+limit0$"
        has stdout '^ *cublasXt .*[0-9]e-[0-9]* .*[0-9]e-[0-9]*  blocks of 4096$'
        has stdout '^ *bound: .*GB up, .*GB down: .* GB/s$'
        hasnt stdout 'wrong'
    done
done
bench gemm --sizes 40 --memory pinned --device-memory 3K --batch 3
has stdout ', batch of 3, pinned, at most 3 KiB of the device.s, against'
has stdout 'fake_ppp+limit3072$'
bench gemm --sizes 40 --memory pinned --device-memory 4G --vs none
has stdout 'pinned, at most 4 GiB of'
has stdout 'fake_ppp+limit4294967296$'
has stdout 'bound'
hasnt stdout 'cublasXt'
# A device named twice, by the option or by the environment, is two; to cublasXt it is one.
twice() {
    run_command 0 "$@" --backend cuda --reps 2
    has stdout 'fake_ppp+limit4294967296+devices2$'
    has stdout '^ *cublasXt .*blocks of 4096$'
    has stdout '^ *bound: .*GB up, .*GB down: .* GB/s$'
    hasnt stdout 'wrong'
}
twice bench gemm --sizes 40 --memory pinned --devices 0,0 --device-memory 4G
TILEMM_DEVICES=0,0
export TILEMM_DEVICES
twice bench gemm --sizes 40 --memory pinned --device-memory 4G
bench gemm --sizes 40 --memory pinned --device 0 # this one alone
has stdout 'fake_ppp+limit0$'
unset TILEMM_DEVICES
run_command 1 bench gemm --sizes 40 --memory pinned --devices 0,1 --backend cuda
has stderr 'device'
bench gemm --sizes 0,0x5x5,5x5x0 --memory pinned
FAKE_SMALL=1 bench gemm --sizes 128 --memory pinned # a part of the product is timed on the device
has stdout 'bound'
bench transpose --sizes 30x20 --memory pinned
has stdout '^transpose, 4-byte elements, pinned;'
has stdout '30x20 .* exact  fake_ppp'
has stdout '^ *bound: link .*GB up'
hasnt stdout 'copy'
bench reduce --sizes 1000 --memory pageable
has stdout '^sum of vectors, pageable;'
has stdout '1000 .* fake_hhh'
has stdout '^ *bound: link'
hasnt stdout 'CUB'
unset FAKE_NO_CAPTURE
for memory in managed:mmm device:ddd; do
    bench gemm --sizes 20 --memory ${memory%:*} --vs none
    has stdout "fake_${memory#*:}"
    hasnt stdout 'bound'
    bench transpose --sizes 30x20 --memory ${memory%:*} --vs none
    has stdout 'exact  fake_'
done

# A row of CSV for each, with the memory in the table's title
bench gemm --sizes 20 --memory pinned --csv out.csv
checks=$((checks + 1))
[ "$(grep -c '^gemm,.*pinned' out.csv)" -eq 3 ] || fail "$(cat out.csv)"

# The suite takes its own memory and limits; sizes shrink to what this machine has.
run_command 2 bench gemm --suite host --sizes 8
FAKE_NO_PINNED=1 run_command 1 bench gemm --sizes 20 --memory pinned --backend cuda
has stderr 'no pinned memory for 1600 bytes'
run_command 1 bench --suite host --backend cpu
has stderr 'the suite host is for a GPU'

# ---- the timeline ----------------------------------------------------------------------

bench gemm --sizes 30 --memory pinned --device-memory 1K --timeline time.svg --vs none
has time.svg '<svg '
has time.svg '>SGEMM 30x30x30, pinned, at most 1 KiB of the device.s; cuda, Fake GPU<'
checks=$((checks + 1))
[ "$(grep -c '<title>' time.svg)" -eq 3 ] || fail "not the last product alone: $(cat time.svg)"
echo old >time.svg
run_command 1 bench gemm --sizes 30 --memory pinned --timeline time.svg --vs none --backend cuda
has stderr 'timeline: a product so small goes up whole'
has time.svg '^old$'

# ---- progress: the share of the times that is done, on a terminal ----------------------

if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "'$TILEMM' bench gemm --sizes 400 --reps 12 --memory pinned --backend cuda" /dev/null \
        </dev/null >terminal 2>/dev/null
    has terminal 'case 1 of 1, gemm 400x400x400: bound'
    has terminal 'case 1 of 1, gemm 400x400x400: times, [1-9][0-9] %'
fi

echo "$checks checks, $failures failed"
[ $failures -eq 0 ] && [ $checks -gt 0 ]
