#!/bin/sh
# two_gpus.sh - what needs two GPUs of one host, in one call of at most eight minutes: correctness with and
# without peer access, speed beside cublasXt, faults, compute-sanitizer. Builds nothing: run it in the
# build folder after `make check`, or `make check TESTS=`. Exits 77 where there are fewer GPUs. An argument is the
# side of the products, 32768 without one. NCCL is loaded at run time: libnccl.so.2 must be where the loader looks.
#
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
set -u
program=tests/api/multi_cuda
speed=tests/api/multi_speed
TEST_DEVICES=0,1
TILEMM_MODULE_DIR=${TILEMM_MODULE_DIR-$(pwd)/.libs}
export TEST_DEVICES TILEMM_MODULE_DIR
begun=$(date +%s)
failed=0
random=tests/mpi/random
side=${1-32768}
sizes=$((side / 2)),$side

for file in "$program" "$speed"; do
    if [ ! -x "$file" ]; then
        echo "two_gpus.sh: $file is not built; 'make check TESTS=' builds it" >&2
        exit 1
    fi
done

# part NAME SECONDS COMMAND...: a heading, what the command says, and whether it passed.
part() {
    name=$1 most=$2
    shift 2
    echo "== $name"
    timeout -k 10 "$most" "$@"
    status=$?
    case $status in
    0) result=passed ;;
    77) result=skipped ;;
    124 | 137) result="FAILED: more than $most s" failed=1 ;;
    *) result="FAILED: status $status" failed=1 ;;
    esac
    echo "== $name: $result, $(($(date +%s) - begun)) s so far"
    return $status
}

# A product of 64 on each side tells whether there are two GPUs, and that they compute.
part "two GPUs" 60 "$speed" 64
if [ $? -eq 77 ]; then
    exit 77
fi
part "results, peer access" 90 env TILEMM_TEST_QUICK=1 "$program"
part "results, TILEMM_PEER=0" 90 env TILEMM_TEST_QUICK=1 TILEMM_PEER=0 "$program"
part "speed" 160 "$speed" "$side"
# pair WAY PROGRAM...: two processes, each with a GPU of its own, whose panels travel by "copy engines", "NCCL" or "MPI".
pair() {
    way=$1 copies=0 nccl=0
    case $way in
    "copy engines") copies=1 ;;
    NCCL) nccl=1 ;;
    esac
    shift
    TILEMM_MPI_IPC=$copies TILEMM_MPI_NCCL=$nccl TILEMM_MPI_LOG=1 NCCL_DEBUG=VERSION timeout -k 10 90 \
        mpirun --allow-run-as-root --bind-to none -n 1 -x CUDA_VISIBLE_DEVICES=0 "$@" \
        : -n 1 -x CUDA_VISIBLE_DEVICES=1 "$@" >two_gpus.tmp 2>&1
    status=$?
    grep -v '^tilemm: psgemm: panels' two_gpus.tmp
    count=$(grep -c "^tilemm: psgemm: panels.* by $way" two_gpus.tmp)
    echo "products whose panels travelled by $way: $count"
    if [ "$count" -eq 0 ]; then
        echo "two_gpus.sh: $way did not run; for NCCL, is libnccl.so.2 in LD_LIBRARY_PATH?"
        status=1
    fi
    rm -f two_gpus.tmp
    return $status
}
if [ -x "$random" ] && command -v mpirun >/dev/null; then
    for way in "copy engines" NCCL MPI; do
        echo "== psgemm, two processes, $way"
        if pair "$way" "$random" 60 device &&
            TILEMM_MPI_PANEL=16 pair "$way" "$random" 60 device &&
            pair "$way" ./tilemm-mpi bench --sizes "$sizes" --vs one --reps 3; then
            echo "== psgemm, $way: passed, $(($(date +%s) - begun)) s so far"
        else
            echo "== psgemm, $way: FAILED"
            failed=1
        fi
    done
else
    echo "== psgemm: skipped, no libtilemm-mpi or no mpirun"
fi
sanitizer=$(command -v compute-sanitizer || echo "${CUDA_HOME-/usr/local/cuda}/bin/compute-sanitizer")
if [ -x "$sanitizer" ]; then
    part "memcheck" 70 env TILEMM_TEST_QUICK=1 TEST_BRIEF=1 "$sanitizer" --tool memcheck \
        --report-api-errors no --error-exitcode 99 "$program"
else
    echo "== memcheck: skipped, no compute-sanitizer"
fi
exit $failed
