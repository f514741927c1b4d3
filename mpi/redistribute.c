/* redistribute.c - see redistribute.h. Each process sends every other one message: the elements
 * that go from it to there, block by block of lines that have the same owners before and after.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "redistribute.h"

#include <stdlib.h>
#include <string.h>

#include "kept.h"

enum {
    PIECE = 64,            /* lines of a block at most: a transposed one stays in L1 */
    MESSAGE_MOST = 1 << 30 /* floats of one of MPI's messages, whose counts are of type int */
};

/* ---- memory -------------------------------------------------------------------------------- */

tilemm_status_t tilemm__alloc_view(tilemm_grid_t grid, tilemm_memory_t where, tilemm__view_t *view)
{
    const int me[2] = {grid->row, grid->col};
    const int64_t rows = tilemm__view_rows(view, me), cols = tilemm__view_cols(view, me);
    view->rs = 1;
    view->cs = tilemm__max(rows, 1);
    return tilemm__alloc(grid, where, rows * cols, &view->at);
}

tilemm_status_t tilemm__copy_parts(tilemm_grid_t grid, int64_t rows, int64_t cols, const float *src,
                                   int64_t rs_src, int64_t cs_src, int64_t step_src, float *dst,
                                   int64_t rs_dst, int64_t cs_dst, int64_t step_dst, int64_t count)
{
    if (rows == 0 || cols == 0)
        return TILEMM_SUCCESS;
    /* A view has a stride of 1 one way; if both are 1, one side is 1 or the other is said. */
    const int down_src = rs_src == 1, down_dst = rs_dst == 1;
    const int64_t ld_src = tilemm__max(down_src ? cs_src : rs_src, down_src ? rows : cols);
    const int64_t ld_dst = tilemm__max(down_dst ? cs_dst : rs_dst, down_dst ? rows : cols);
    /* Row-major: lines in memory are columns where rows are 1 apart. */
    const int64_t lines = down_src ? cols : rows, length = down_src ? rows : cols;
    return tilemm__passed(grid, (down_src == down_dst ? tilemm_copy_matrix_strided_batched
                                                      : tilemm_transpose_strided_batched)(
                                    grid->ctx, lines, length, sizeof(float), src, ld_src, step_src,
                                    dst, ld_dst, step_dst, count));
}

tilemm_status_t tilemm__copy_part(tilemm_grid_t grid, int64_t rows, int64_t cols, const float *src,
                                  int64_t rs_src, int64_t cs_src, float *dst, int64_t rs_dst,
                                  int64_t cs_dst)
{
    return tilemm__copy_parts(grid, rows, cols, src, rs_src, cs_src, 0, dst, rs_dst, cs_dst, 0, 1);
}

tilemm_status_t tilemm__stage(tilemm_grid_t grid, const tilemm__view_t *view, int empty,
                              tilemm__view_t *staged)
{
    const int me[2] = {grid->row, grid->col};
    *staged = *view;
    if (!grid->cuda)
        return TILEMM_SUCCESS;
    tilemm_status_t status = tilemm__alloc_view(grid, TILEMM_MEMORY_PINNED, staged);
    if (status == TILEMM_SUCCESS && !empty)
        status =
            tilemm__copy_part(grid, tilemm__view_rows(view, me), tilemm__view_cols(view, me),
                              view->at, view->rs, view->cs, staged->at, staged->rs, staged->cs);
    return status == TILEMM_SUCCESS ? tilemm__passed(grid, tilemm_synchronize(grid->ctx)) : status;
}

tilemm_status_t tilemm__unstage(tilemm_grid_t grid, const tilemm__view_t *view, int changed,
                                tilemm__view_t *staged)
{
    const int me[2] = {grid->row, grid->col};
    tilemm_status_t status = TILEMM_SUCCESS;
    if (!grid->cuda || !staged->at)
        return status;
    if (changed)
        status =
            tilemm__copy_part(grid, tilemm__view_rows(view, me), tilemm__view_cols(view, me),
                              staged->at, staged->rs, staged->cs, view->at, view->rs, view->cs);
    const tilemm_status_t freed =
        tilemm__passed(grid, tilemm_free_matrix(grid->ctx, staged->at)); /* which waits */
    staged->at = NULL;
    return status == TILEMM_SUCCESS ? freed : status;
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Consecutive lines that one process has before and one after. */
typedef struct {
    int64_t from, to; /* the number of the first on its process, before and after */
    int64_t count;
} lines_t;

/* This process's lines, by the process at the other end: those of p are [begin[p], begin[p + 1]).
 */
typedef struct {
    lines_t *lines;
    int64_t *begin;
    int64_t *count; /* of lines, in all */
    int procs;
} share_t;

static void free_share(share_t *share)
{
    free(share->lines);
    free(share->begin);
    free(share->count);
}

/* Go through the lines twice: count, then store. `mine` owns them before, if `sends`, or after. */
static void walk(const tilemm__dist_t *from, const tilemm__dist_t *to, int mine, int sends,
                 share_t *share, int store)
{
    for (int64_t at = 0, end; at < from->n; at = end) {
        const tilemm__run_t x = tilemm__dist_run(from, at, from->n),
                            y = tilemm__dist_run(to, at, tilemm__min(x.end, at + PIECE));
        end = y.end;
        if ((sends ? x.owner : y.owner) != mine)
            continue;
        const int other = sends ? y.owner : x.owner;
        if (store) {
            share->lines[share->begin[other]++] = (lines_t){x.local, y.local, end - at};
            share->count[other] += end - at;
        } else {
            share->begin[other + 1]++;
        }
    }
}

/* Returns 0, or -1 if memory ran out. */
static int make_share(const tilemm__dist_t *from, const tilemm__dist_t *to, int mine, int sends,
                      share_t *share)
{
    const int procs = sends ? to->procs : from->procs;
    share->procs = procs;
    share->begin = calloc((size_t)procs + 1, sizeof *share->begin);
    share->count = calloc((size_t)procs, sizeof *share->count);
    if (!share->begin || !share->count)
        return -1;
    walk(from, to, mine, sends, share, 0);
    for (int p = 0; p < procs; p++)
        share->begin[p + 1] += share->begin[p];
    share->lines = malloc((size_t)(share->begin[procs] + 1) * sizeof *share->lines);
    if (!share->lines)
        return -1;
    walk(from, to, mine, sends, share, 1);
    for (int p = procs; p > 0; p--)
        share->begin[p] = share->begin[p - 1];
    share->begin[0] = 0;
    return 0;
}

/* ---- elements ------------------------------------------------------------------------------ */

/* One side of the exchange: what this process sends, or receives. */
typedef struct {
    const tilemm__view_t *view;
    int side; /* of the grid, along which rows are dealt at the other end */
    share_t rows, cols;
    float *buffer;
} end_t;

/* Floats to or from the process at (row, col). */
static int64_t floats_of(const end_t *end, const int at[2])
{
    return end->rows.count[at[end->side]] * end->cols.count[at[!end->side]];
}

static void pack_block(const float *src, int64_t rs, int64_t cs, int64_t rows, int64_t cols,
                       float *to)
{
    for (int64_t j = 0; j < cols; j++, to += rows)
        if (rs == 1)
            memcpy(to, src + j * cs, (size_t)rows * sizeof *to);
        else
            for (int64_t i = 0; i < rows; i++)
                to[i] = src[i * rs + j * cs];
}

static void unpack_block(const float *from, int64_t rows, int64_t cols, float alpha, float beta,
                         float *dst, int64_t rs, int64_t cs)
{
    for (int64_t j = 0; j < cols; j++, from += rows) {
        float *const to = dst + j * cs;
        if (beta == 0.0f && alpha == 1.0f)
            for (int64_t i = 0; i < rows; i++)
                to[i * rs] = from[i];
        else if (beta == 0.0f)
            for (int64_t i = 0; i < rows; i++)
                to[i * rs] = alpha * from[i];
        else
            for (int64_t i = 0; i < rows; i++)
                to[i * rs] = alpha * from[i] + beta * to[i * rs];
    }
}

/* All blocks to or from one process, in the order of columns, then rows. */
static void pack(const end_t *end, const int at[2], float *to)
{
    const tilemm__view_t *const x = end->view;
    const int row = at[end->side], col = at[!end->side];
    for (int64_t c = end->cols.begin[col]; c < end->cols.begin[col + 1]; c++)
        for (int64_t r = end->rows.begin[row]; r < end->rows.begin[row + 1]; r++) {
            const lines_t *const rows = &end->rows.lines[r], *const cols = &end->cols.lines[c];
            pack_block(x->at + rows->from * x->rs + cols->from * x->cs, x->rs, x->cs, rows->count,
                       cols->count, to);
            to += rows->count * cols->count;
        }
}

static void unpack(const end_t *end, const int at[2], const float *from, float alpha, float beta)
{
    const tilemm__view_t *const x = end->view;
    const int row = at[end->side], col = at[!end->side];
    for (int64_t c = end->cols.begin[col]; c < end->cols.begin[col + 1]; c++)
        for (int64_t r = end->rows.begin[row]; r < end->rows.begin[row + 1]; r++) {
            const lines_t *const rows = &end->rows.lines[r], *const cols = &end->cols.lines[c];
            unpack_block(from, rows->count, cols->count, alpha, beta,
                         x->at + rows->to * x->rs + cols->to * x->cs, x->rs, x->cs);
            from += rows->count * cols->count;
        }
}

/* ---- messages ------------------------------------------------------------------------------ */

/* The sending or the receiving end. Returns 0, or -1 if memory ran out. */
static int begin_end(tilemm_grid_t grid, const tilemm__view_t *from, const tilemm__view_t *to,
                     int sends, end_t *end)
{
    const int me[2] = {grid->row, grid->col};
    const tilemm__view_t *const mine = sends ? from : to;
    int64_t count = 0;
    *end = (end_t){.view = mine, .side = sends ? to->side : from->side};
    if (make_share(&from->rows, &to->rows, me[mine->side], sends, &end->rows) ||
        make_share(&from->cols, &to->cols, me[!mine->side], sends, &end->cols))
        return -1;
    count = tilemm__view_rows(mine, me) * tilemm__view_cols(mine, me);
    end->buffer = malloc((size_t)(count + 1) * sizeof(float));
    return end->buffer ? 0 : -1;
}

static void finish_end(end_t *end)
{
    free_share(&end->rows);
    free_share(&end->cols);
    free(end->buffer);
}

static void coordinates(tilemm_grid_t grid, int rank, int at[2])
{
    at[0] = rank / grid->cols;
    at[1] = rank % grid->cols;
}

int tilemm__post(tilemm_grid_t grid, int sends, float *buffer, int64_t count, int rank,
                 MPI_Request *requests, int *used)
{
    int error = 0;
    for (int64_t done = 0, tag = 0; done < count && !error; done += MESSAGE_MOST, tag++) {
        const int some = (int)tilemm__min(count - done, MESSAGE_MOST);
        error = sends ? MPI_Isend(buffer + done, some, MPI_FLOAT, rank, (int)tag, grid->all,
                                  &requests[(*used)++])
                      : MPI_Irecv(buffer + done, some, MPI_FLOAT, rank, (int)tag, grid->all,
                                  &requests[(*used)++]);
    }
    return error;
}

int64_t tilemm__most_messages(tilemm_grid_t grid, int64_t count)
{
    return (int64_t)grid->rows * grid->cols + count / MESSAGE_MOST;
}

/* What stays goes over by way of the buffer too. */
static int exchange(tilemm_grid_t grid, end_t *out, end_t *in, MPI_Request *requests, float alpha,
                    float beta, int64_t *received)
{
    const int procs = grid->rows * grid->cols;
    const float *own = NULL;
    int used = 0, error = 0, at[2];
    int64_t offset = 0;
    for (int rank = 0; rank < procs && !error; rank++) {
        coordinates(grid, rank, at);
        const int64_t count = floats_of(in, at);
        if (rank != grid->rank) {
            error = tilemm__post(grid, 0, in->buffer + offset, count, rank, requests, &used);
            *received += count;
        }
        offset += count;
    }
    offset = 0;
    /* Not all begin with the same one. */
    for (int i = 0; i < procs && !error; i++) {
        const int rank = (grid->rank + i) % procs;
        coordinates(grid, rank, at);
        const int64_t count = floats_of(out, at);
        pack(out, at, out->buffer + offset);
        if (rank == grid->rank)
            own = out->buffer + offset;
        else
            error = tilemm__post(grid, 1, out->buffer + offset, count, rank, requests, &used);
        offset += count;
    }
    if (used)
        error |= MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
    offset = 0;
    for (int rank = 0; rank < procs && !error; rank++) {
        coordinates(grid, rank, at);
        unpack(in, at, rank == grid->rank ? own : in->buffer + offset, alpha, beta);
        offset += floats_of(in, at);
    }
    return error;
}

tilemm_status_t tilemm__redistribute(tilemm_grid_t grid, const char *where,
                                     const tilemm__view_t *from, const tilemm__view_t *to,
                                     float alpha, float beta)
{
    end_t out = {0}, in = {0};
    const double begin = MPI_Wtime();
    int64_t received = 0;
    const int no_out = begin_end(grid, from, to, 1, &out),
              no_in = begin_end(grid, from, to, 0, &in);
    const int me[2] = {grid->row, grid->col};
    const int64_t most =
        tilemm__most_messages(grid, tilemm__view_rows(from, me) * tilemm__view_cols(from, me)) +
        tilemm__most_messages(grid, tilemm__view_rows(to, me) * tilemm__view_cols(to, me));
    MPI_Request *const requests = malloc((size_t)most * sizeof *requests);
    tilemm_status_t status = TILEMM_SUCCESS;
    if (no_out || no_in || !requests)
        status = tilemm__found(grid, TILEMM_OUT_OF_MEMORY, "%s: no memory to redistribute", where);
    status = tilemm__agree(grid, where, status, NULL);
    if (status == TILEMM_SUCCESS) {
        if (exchange(grid, &out, &in, requests, alpha, beta, &received))
            status = tilemm__found(grid, TILEMM_INTERNAL_ERROR, "%s: MPI failed", where);
        tilemm__step(grid, "redistribute", begin, (double)received * sizeof(float));
    }
    free(requests);
    finish_end(&out);
    finish_end(&in);
    return status;
}
