# mpi.sh - how a script runs a program under mpirun, on few processors and as root too; sourced.
# Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause
# Environment: MPI_TESTS, the folder of the programs; MPIRUN, another mpirun.
# shellcheck shell=sh
mpirun=${MPIRUN:-mpirun}
if [ -z "${MPI_TESTS:-}" ]; then
    echo "skipped: libtilemm-mpi was not built"
    exit 77
fi
if ! command -v "$mpirun" >/dev/null 2>&1; then
    echo "skipped: no $mpirun"
    exit 77
fi
# More processes than processors: who waits must let others work. Containers seldom allow one process to read
# another's memory, which the last turns off.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none \
    OMPI_MCA_btl_vader_single_copy_mechanism=none
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
if ! timeout 60 "$mpirun" -n 2 true >/dev/null 2>&1; then
    echo "skipped: $mpirun cannot start two processes here"
    exit 77
fi

# run SECONDS PROCESSES PROGRAM [ARGUMENT...]: a program that hangs has failed.
run()
{
    seconds=$1 processes=$2 program=$3
    shift 3
    timeout "$seconds" "$mpirun" -n "$processes" "$MPI_TESTS/$program" "$@"
}
