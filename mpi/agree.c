/* agree.c - one status for all processes, and the message of the one that found it.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "descriptor.h"
#include "grid.h"

enum { NAME_BYTES = 16 };

tilemm_status_t tilemm__found(tilemm_grid_t grid, tilemm_status_t status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(grid->message, sizeof grid->message, format, list);
    va_end(list);
    return status;
}

tilemm_status_t tilemm__passed(tilemm_grid_t grid, tilemm_status_t status)
{
    return status == TILEMM_SUCCESS
               ? status
               : tilemm__found(grid, status, "%s", tilemm_last_error(grid->ctx));
}

void tilemm__add_argument(tilemm__arguments_t *arguments, const char *name, int64_t value)
{
    arguments->list[arguments->count++] = (tilemm__argument_t){name, value, 0, -1};
}

void tilemm__add_float(tilemm__arguments_t *arguments, const char *name, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    arguments->list[arguments->count++] = (tilemm__argument_t){name, bits, 1, -1};
}

void tilemm__add_descriptor(tilemm__arguments_t *arguments, const char *name, const int *desc)
{
    const int length = tilemm__descriptor_length(desc);
    for (int i = 0; i < length - 1; i++)
        if (i != 1) /* ScaLAPACK's context, which is a number of each process's own */
            arguments->list[arguments->count++] = (tilemm__argument_t){name, desc[i], 0, i};
}

static void write_value(char *text, size_t room, const tilemm__argument_t *argument, int64_t value)
{
    if (argument->is_float) {
        const uint32_t bits = (uint32_t)value;
        float x;
        memcpy(&x, &bits, sizeof x);
        snprintf(text, room, "%.9g", (double)x);
    } else {
        snprintf(text, room, "%lld", (long long)value);
    }
}

/* A number that differs, in all likelihood, where the function or an argument does. */
static int64_t digest(const char *where, const tilemm__arguments_t *arguments)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a's numbers */
    for (const char *c = where; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    for (int i = 0; arguments && i < arguments->count; i++) {
        hash = (hash ^ (uint64_t)arguments->list[i].value) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return (int64_t)hash;
}

/* Collective: whether this process's arguments differ from those of process 0; what differs is told
 * as found. -1 if MPI fails. */
static int compare(tilemm_grid_t grid, const char *where, const tilemm__arguments_t *arguments)
{
    const int count = arguments ? arguments->count : 0;
    struct {
        char where[NAME_BYTES];
        int64_t values[TILEMM__MOST_ARGUMENTS];
    } first = {"", {0}};
    snprintf(first.where, sizeof first.where, "%s", where);
    for (int i = 0; i < count; i++)
        first.values[i] = arguments->list[i].value;
    if (MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, grid->all))
        return -1;
    if (strcmp(first.where, where)) {
        (void)tilemm__found(grid, TILEMM_INVALID_ARGUMENT, "%s: called while process 0 calls %s",
                            where, first.where);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        const tilemm__argument_t *const mine = &arguments->list[i];
        char name[48], value[32], other[32];
        if (first.values[i] == mine->value)
            continue;
        snprintf(name, sizeof name, mine->entry < 0 ? "%s" : "%s[%d]", mine->name, mine->entry);
        write_value(value, sizeof value, mine, mine->value);
        write_value(other, sizeof other, mine, first.values[i]);
        (void)tilemm__found(grid, TILEMM_INVALID_ARGUMENT,
                            "%s: %s = %s, must be %s, as on process 0", where, name, value, other);
        return 1;
    }
    return 0;
}

/* Collective: the message and the status of process `rank` become those of all. */
static tilemm_status_t tell(tilemm_grid_t grid, int rank, tilemm_status_t status)
{
    struct {
        int status;
        char text[TILEMM__MESSAGE_BYTES];
    } told = {(int)status, ""};
    memcpy(told.text, grid->message, sizeof told.text);
    if (MPI_Bcast(&told, (int)sizeof told, MPI_BYTE, rank, grid->all))
        return tilemm__fail(grid->ctx, TILEMM_INTERNAL_ERROR, "MPI failed");
    told.text[sizeof told.text - 1] = '\0';
    return tilemm__fail(grid->ctx, (tilemm_status_t)told.status,
                        "process %d (row %d, column %d): %s", rank, rank / grid->cols,
                        rank % grid->cols, told.text);
}

/* Collective: the least number of a process that has found something; -1 if MPI fails. */
static int64_t first_of(tilemm_grid_t grid, int found)
{
    int64_t mine = found ? grid->rank : INT64_MAX, least;
    return MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, grid->all) ? -1 : least;
}

tilemm_status_t tilemm__agree(tilemm_grid_t grid, const char *where, tilemm_status_t status,
                              const tilemm__arguments_t *arguments)
{
    const int64_t sum = digest(where, arguments);
    int64_t mine[3] = {status ? grid->rank : INT64_MAX, sum, ~sum}, least[3];
    if (MPI_Allreduce(mine, least, 3, MPI_INT64_T, MPI_MIN, grid->all))
        return tilemm__fail(grid->ctx, TILEMM_INTERNAL_ERROR, "%s: MPI failed", where);
    if (least[0] != INT64_MAX)
        return tell(grid, (int)least[0], status);
    if (least[1] == ~least[2])
        return TILEMM_SUCCESS;
    if (!grid->check)
        return tilemm__fail(grid->ctx, TILEMM_INVALID_ARGUMENT,
                            "%s: arguments differ between processes (TILEMM_MPI_CHECK=1 tells "
                            "which)",
                            where);
    const int differs = compare(grid, where, arguments);
    const int64_t rank = differs < 0 ? -1 : first_of(grid, differs);
    if (rank < 0 || rank == INT64_MAX)
        return tilemm__fail(grid->ctx, TILEMM_INTERNAL_ERROR, "%s: MPI failed", where);
    return tell(grid, (int)rank, TILEMM_INVALID_ARGUMENT);
}
