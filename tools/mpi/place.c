/* place.c - option values, contexts, and grids of processes.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "mpi/share.h"
#include "tool.h"

/* A number of digits alone, from 1 on; *end is what follows. 0, or -1. */
static int take_number(const char *text, const char **end, int64_t high, int64_t *value)
{
    char *after;
    errno = 0;
    if (!isdigit((unsigned char)*text))
        return -1;
    *value = strtoll(text, &after, 10);
    *end = after;
    return errno || *value < 1 || *value > high ? -1 : 0;
}

/* Up to `most` numbers with an x between them. Returns how many, or -1. */
static int take_product(const char *text, const char **end, int64_t high, int most, int64_t *values)
{
    for (int count = 0; count < most; text = *end + 1) {
        if (take_number(text, end, high, &values[count++]) != 0)
            return -1;
        if (**end != 'x')
            return count;
    }
    return -1;
}

int parse_pair(const char *text, void *value)
{
    int64_t numbers[2];
    const char *end;
    int *pair = value;
    if (take_product(text, &end, INT_MAX, 2, numbers) != 2 || *end)
        return -1;
    pair[0] = (int)numbers[0];
    pair[1] = (int)numbers[1];
    return 0;
}

int parse_pair_or_one(const char *text, void *value)
{
    int64_t number;
    const char *end;
    int *pair = value;
    if (take_number(text, &end, INT_MAX, &number) != 0 || *end)
        return parse_pair(text, value);
    pair[0] = pair[1] = (int)number;
    return 0;
}

int parse_sizes(const char *text, void *value)
{
    sizes_t *sizes = value;
    int64_t numbers[3];
    const char *end;
    for (sizes->count = 0; sizes->count < MAX_SIZES; text = end + 1) {
        const int got = take_product(text, &end, INT_MAX, 3, numbers);
        if (got != 1 && got != 3)
            return -1;
        sizes->at[sizes->count++] = got == 1 ? (size3_t){numbers[0], numbers[0], numbers[0]}
                                             : (size3_t){numbers[0], numbers[1], numbers[2]};
        if (*end != ',')
            return *end ? -1 : 0;
    }
    return -1;
}

int parse_counts(const char *text, void *value)
{
    counts_t *counts = value;
    int64_t number;
    const char *end;
    for (counts->count = 0; counts->count < MAX_COUNTS; text = end + 1) {
        if (take_number(text, &end, 1 << 24, &number) != 0)
            return -1;
        counts->at[counts->count++] = (int)number;
        if (*end != ',')
            return *end ? -1 : 0;
    }
    return -1;
}

void square_grid(int processes, int *rows, int *cols)
{
    int divisor = 1;
    for (int i = 1; (int64_t)i * i <= processes; i++)
        if (processes % i == 0)
            divisor = i;
    *rows = divisor;
    *cols = processes / divisor;
}

tilemm_t open_context(const backend_options_t *options, int *threads)
{
    tilemm__share_t share;
    tilemm_t ctx = NULL;
    tilemm__share(MPI_COMM_WORLD, &share);
    const int device = options->device >= 0 ? options->device : share.device;
    tilemm_status_t status = tilemm_create(&ctx, (tilemm_backend_t)options->backend, device);
    if (status != TILEMM_SUCCESS)
        command_error("%s", tilemm_create_error());
    const int wanted = options->threads ? options->threads : share.threads;
    if (status == TILEMM_SUCCESS &&
        ((wanted && (status = tilemm_set_threads(ctx, wanted)) != TILEMM_SUCCESS) ||
         (options->math >= 0 &&
          (status = tilemm_set_math(ctx, (tilemm_math_t)options->math)) != TILEMM_SUCCESS)))
        command_error("%s", tilemm_last_error(ctx));
    int failed = status != TILEMM_SUCCESS, any = 1;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any) {
        if (!failed)
            command_error("a process has no context");
        tilemm_destroy(ctx);
        return NULL;
    }
    tilemm_get_threads(ctx, threads);
    return ctx;
}

int place_open(place_t *place, MPI_Comm comm, int rows, int cols, tilemm_t ctx)
{
    tilemm_backend_t backend = TILEMM_BACKEND_CPU;
    *place = (place_t){.comm = comm, .rows = rows, .cols = cols, .ctx = ctx};
    MPI_Comm_size(comm, &place->size);
    MPI_Comm_rank(comm, &place->rank);
    tilemm_get_backend(ctx, &backend);
    place->on_gpu = backend == TILEMM_BACKEND_CUDA;
    if (check_status(place, tilemm_grid_create(&place->grid, comm, rows, cols, ctx)) != 0)
        return -1;
    tilemm_grid_get(place->grid, NULL, NULL, &place->row, &place->col);
    return 0;
}

void place_close(place_t *place)
{
    tilemm_grid_destroy(place->grid);
    place->grid = NULL;
}

int any_failed(const place_t *place, int failed)
{
    int any = 1;
    failed = failed != 0;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, place->comm);
    return any;
}

double largest(const place_t *place, double x)
{
    double most = x;
    MPI_Allreduce(&x, &most, 1, MPI_DOUBLE, MPI_MAX, place->comm);
    return most;
}

int check_status(const place_t *place, tilemm_status_t status)
{
    if (status != TILEMM_SUCCESS)
        command_error("%s: %s", tilemm_status_string(status), tilemm_last_error(place->ctx));
    return status == TILEMM_SUCCESS ? 0 : -1;
}

void wait_quietly(MPI_Comm comm)
{
    MPI_Request request;
    int done = 0;
    if (MPI_Ibarrier(comm, &request) != MPI_SUCCESS)
        return;
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}
