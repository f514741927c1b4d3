/* share.c - see share.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h> /* _GNU_SOURCE, for sched_getaffinity */
#endif

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

#include "mpi/share.h"

/* Processors are counted up to this number. */
enum { PROCESSORS = 4096 };

static int is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* This process's share of the processors that it may run on: each of them divided by the number of
 * processes that may run on it. */
static int threads_of(MPI_Comm machine)
{
    unsigned short mine[PROCESSORS] = {0}, sums[PROCESSORS];
    double share = 0;
    cpu_set_t *set = CPU_ALLOC(PROCESSORS);
    if (set && sched_getaffinity(0, CPU_ALLOC_SIZE(PROCESSORS), set) == 0)
        for (int i = 0; i < PROCESSORS; i++)
            mine[i] = CPU_ISSET_S(i, CPU_ALLOC_SIZE(PROCESSORS), set) != 0;
    CPU_FREE(set);
    if (MPI_Allreduce(mine, sums, PROCESSORS, MPI_UNSIGNED_SHORT, MPI_SUM, machine) != MPI_SUCCESS)
        return 1;
    for (int i = 0; i < PROCESSORS; i++)
        share += mine[i] ? 1.0 / sums[i] : 0;
    return share < 1 ? 1 : (int)(share + 1e-6);
}

/* CUDA devices, by the driver. */
static int count_devices(void)
{
    int (*init)(unsigned), (*get_count)(int *), count = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return 0;
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&get_count = dlsym(driver, "cuDeviceGetCount");
    return init && get_count && init(0) == 0 && get_count(&count) == 0 ? count : 0;
}

void tilemm__share(MPI_Comm comm, tilemm__share_t *share)
{
    MPI_Comm machine;
    *share = (tilemm__share_t){.processes = 1, .devices = count_devices()};
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) != MPI_SUCCESS)
        return;
    MPI_Comm_size(machine, &share->processes);
    MPI_Comm_rank(machine, &share->number);
    const int threads = threads_of(machine);
    if (!is_set("TILEMM_NUM_THREADS") && !is_set("OMP_NUM_THREADS"))
        share->threads = threads;
    share->device = share->devices ? share->number % share->devices : 0;
    MPI_Comm_free(&machine);
}
