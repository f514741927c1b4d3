/* run_inplace_cpu.c - transpositions in place on the CPU: pairs of square blocks, slabs of rows, or
 * the cycles of kernels/transpose/inplace.h.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "team_cpu.h"

/* ---- squares, and the move ----------------------------------------------------------------- */

/* Move the slots of one layout to those of another; the order is proved right in inplace.h. */
static void move_slots(char *a, int64_t size, int64_t total, int64_t width_in, int64_t ld_in,
                       int64_t width_out, int64_t ld_out)
{
    int64_t run;
    if (tilemm__slots_agree(total, width_in, ld_in, width_out, ld_out))
        return;
    for (int64_t k = 0; k < total; k += run) {
        const int64_t from = tilemm__slot(k, width_in, ld_in);
        const int64_t to = tilemm__slot(k, width_out, ld_out);
        run = tilemm__slot_run(k, total, width_in, width_out);
        if (to < from)
            memmove(a + to * size, a + from * size, (size_t)(run * size));
    }
    for (int64_t k = total; k > 0; k -= run) {
        run = tilemm__slot_run_back(k - 1, width_in, width_out);
        const int64_t from = tilemm__slot(k - run, width_in, ld_in);
        const int64_t to = tilemm__slot(k - run, width_out, ld_out);
        if (to > from)
            memmove(a + to * size, a + from * size, (size_t)(run * size));
    }
}

/* Pairs of blocks that mirror each other are copied to scratch and transposed, each to the other's
 * place. Thread t of T takes block rows t, t + T, ..., which evens out their lengths. */
static void swap_blocks(void *data, thread_t me)
{
    const job_t *const job = data;
    tilemm__transpose_block_t *const transpose = job->kernels->block[job->plan->kind];
    const int64_t n = job->args->rows, ld = job->args->ld_src, side = job->plan->swap.side;
    const int64_t size = (int64_t)job->args->elem_size;
    const int64_t scratch_ld = tilemm__transpose_block_ld(side, job->args->elem_size);
    const float alpha = job->args->alpha;
    char stack[TILEMM__TRANSPOSE_STACK] __attribute__((aligned(64)));
    size_t bytes;
    char *const one = my_scratch(job, me, stack, &bytes);
    char *const other = one + side * scratch_ld * size;
    char *const a = job->args->dst;
    for (int64_t i = me.number * side; i < n; i += me.of * side)
        for (int64_t j = i; j < n; j += side) {
            const int64_t rows = tilemm__min(side, n - i), cols = tilemm__min(side, n - j);
            char *const upper = a + (i * ld + j) * size, *const lower = a + (j * ld + i) * size;
            copy_rows(one, scratch_ld, upper, ld, rows, cols, size);
            if (i != j) {
                copy_rows(other, scratch_ld, lower, ld, cols, rows, size);
                transpose(cols, rows, other, scratch_ld, upper, ld, alpha, 1);
            }
            transpose(rows, cols, one, scratch_ld, lower, ld, alpha, 1);
        }
}

/* ---- cycles -------------------------------------------------------------------------------- */

/* A permutation of rows, of runs, or of the elements of a row: new(i) = old(source(i)). */
typedef struct {
    enum { ROTATE, ROWS_FORWARD, ROWS_BACKWARD, ROW_FORWARD, ROW_BACKWARD, TRANSPOSE } which;
    const tilemm__inplace_t *view; /* but for TRANSPOSE */
    int64_t by;    /* rows rotated by; or the number of the row; TRANSPOSE: rows of a matrix */
    int64_t other; /* TRANSPOSE: its columns */
} permutation_t;

static inline int64_t source(const permutation_t *map, int64_t i)
{
    const tilemm__inplace_t *const view = map->view;
    if (map->which == TRANSPOSE)
        return i % map->by * map->other + i / map->by;
    const int64_t m = view->m;
    switch (map->which) {
    case ROTATE: return i >= m - map->by ? i - (m - map->by) : i + map->by;
    case ROWS_FORWARD:
        i = tilemm__inplace_permuted(view, i);
        return i >= m - map->by ? i - (m - map->by) : i + map->by;
    case ROWS_BACKWARD:
        return tilemm__inplace_unpermuted(view, i >= map->by ? i - map->by : i + (m - map->by));
    case ROW_FORWARD: return tilemm__inplace_row_source(view, map->by, i);
    default: return tilemm__inplace_row_target(view, map->by, i);
    }
}

/* A piece is part of a row, a run or an element. The usual sizes are copied without a call. */
static inline void copy_piece(char *restrict dst, const char *restrict src, size_t bytes)
{
    if (bytes == TILEMM__TRANSPOSE_RUN)
        memcpy(dst, src, TILEMM__TRANSPOSE_RUN);
    else if (bytes == TILEMM__SKEW_BYTES)
        memcpy(dst, src, TILEMM__SKEW_BYTES);
    else
        memcpy(dst, src, bytes);
}

static inline __attribute__((always_inline)) void prefetch_piece(const char *piece, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(piece + at, 1);
    __builtin_prefetch(piece + bytes - 1, 1);
}

/* Permute `count` pieces, `step` bytes apart, cycle by cycle. Scratch has a bit for each piece, set
 * once it is in place. Without room for that, a cycle is moved from its lowest piece on, which is
 * found by walking the cycle from each piece until a lower one is met. */
static void permute(char *base, int64_t count, int64_t step, size_t piece, permutation_t map,
                    unsigned char *scratch, size_t scratch_bytes)
{
    /* The hardware cannot prefetch along a cycle: large pieces are prefetched AHEAD steps early. */
    enum { AHEAD = 32 };
    unsigned char *const done = (size_t)tilemm__div_up(count, 8) <= scratch_bytes ? scratch : NULL;
    const int far = piece >= 64;
    char saved[TILEMM__TRANSPOSE_RUN];
    if (done)
        memset(done, 0, (size_t)tilemm__div_up(count, 8));
    for (int64_t i = 0; i < count; i++) {
        if (done && done[i / 8] >> i % 8 & 1)
            continue;
        int64_t next = source(&map, i), at = next;
        while (!done && at > i)
            at = source(&map, at);
        if (next == i || (!done && at < i))
            continue;
        copy_piece(saved, base + i * step, piece);
        int64_t coming = next;
        for (int k = 0; far && k < AHEAD; k++)
            coming = source(&map, coming);
        for (at = i; next != i; next = source(&map, at)) {
            if (far) {
                prefetch_piece(base + coming * step, piece);
                coming = source(&map, coming);
            }
            copy_piece(base + at * step, base + next * step, piece);
            at = next;
            if (done)
                done[at / 8] |= (unsigned char)(1 << at % 8);
        }
        copy_piece(base + at * step, saved, piece);
    }
}

/* Step 3 of the permutation (inplace.h), or else step 1, on the groups of adjacent columns that are
 * this thread's. Within a group the columns' rotations differ by little: a common rotation joins
 * the permutation of rows, and a skew does the remainder. */
static void permute_columns(const job_t *job, thread_t me, const tilemm__inplace_t *view,
                            char *base, int64_t ld, int third, int backward)
{
    const int64_t size = (int64_t)job->args->elem_size, width = job->plan->cycles.cols;
    const int64_t m = view->m, n = view->n;
    char stack[TILEMM__TRANSPOSE_STACK] __attribute__((aligned(64)));
    size_t bytes;
    unsigned char *const scratch = (unsigned char *)my_scratch(job, me, stack, &bytes);
    const int kind = __builtin_ctz((unsigned)size);
    int64_t group, end;
    my_share(me, tilemm__div_up(n, width), &group, &end);
    for (; group < end; group++) {
        const int64_t j = group * width, cols = tilemm__min(width, n - j);
        char *const top = base + j * size, *const bottom = top + (m - 1) * ld * size;
        const int64_t rotation = tilemm__inplace_rotation(view, j);
        const int skewed =
            third ? cols > 1 : tilemm__inplace_rotation(view, j + cols - 1) != rotation;
        int shift[TILEMM__SKEW_COLS];
        permutation_t map = {
            .which = ROTATE, .view = view, .by = backward && rotation ? m - rotation : rotation};
        if (third) {
            map.which = backward ? ROWS_BACKWARD : ROWS_FORWARD;
            map.by = j % m;
        }
        for (int64_t x = 0; x < cols; x++)
            shift[x] = (int)(third ? x : tilemm__inplace_rotation(view, j + x) - rotation);
        if (skewed && !backward)
            job->kernels->skew[kind](m, cols, top, ld, shift);
        if (map.which != ROTATE || map.by)
            permute(top, m, ld * size, (size_t)(cols * size), map, scratch, bytes);
        if (skewed && backward)
            job->kernels->skew[kind](m, cols, bottom, -ld, shift);
    }
}

/* Step 2, on the rows that are this thread's. */
static void shuffle_rows(const job_t *job, thread_t me, const tilemm__inplace_t *view, char *base,
                         int64_t ld, int backward)
{
    const int64_t size = (int64_t)job->args->elem_size, n = view->n;
    char stack[TILEMM__TRANSPOSE_STACK] __attribute__((aligned(64)));
    size_t bytes;
    char *const scratch = my_scratch(job, me, stack, &bytes);
    const int fits = (size_t)(n * size) <= bytes;
    int64_t i, end;
    my_share(me, view->m, &i, &end);
    for (; i < end; i++) {
        char *const row = base + i * ld * size;
        if (fits) {
            job->kernels->shuffle[job->plan->kind](view, i, row, scratch, backward,
                                                   job->args->alpha);
        } else {
            const permutation_t map = {
                .which = backward ? ROW_BACKWARD : ROW_FORWARD, .view = view, .by = i};
            permute(row, n, size, (size_t)size, map, (unsigned char *)scratch, bytes);
            if (job->plan->kind == TILEMM__TRANSPOSE_SCALED)
                job->kernels->scale(n, (void *)row, (void *)row, job->args->alpha);
        }
    }
}

/* C2R, or backward R2C: the three steps, on the input's or the output's slots. */
static void run_cycles(void *data, thread_t me)
{
    const job_t *const job = data;
    const tilemm__transpose_args_t *const args = job->args;
    const int backward = job->plan->method == TILEMM__TRANSPOSE_CPU_R2C;
    const int64_t ld = backward ? args->ld_dst : args->ld_src;
    const tilemm__inplace_t *const view = &job->plan->cycles.view;
    permute_columns(job, me, view, args->dst, ld, backward, backward);
    tilemm__meet(me);
    shuffle_rows(job, me, view, args->dst, ld, backward);
    tilemm__meet(me);
    permute_columns(job, me, view, args->dst, ld, !backward, backward);
}

/* ---- slabs (plan_cpu.h) -------------------------------------------------------------------- */

/* Each of this thread's slabs is transposed where it lies. */
static void transpose_slabs(void *data, thread_t me)
{
    const job_t *const job = data;
    const tilemm__transpose_cpu_slabs_t *const x = &job->plan->slabs;
    const int64_t size = (int64_t)job->args->elem_size;
    const int64_t rows = x->forward ? x->height : x->n, cols = x->forward ? x->n : x->height;
    const int64_t ld =
        x->forward ? tilemm__transpose_block_ld(x->n, job->args->elem_size) : x->height;
    char *const scratch = job->workspace + (size_t)me.number * job->plan->scratch;
    int64_t slab, end;
    my_share(me, x->m / x->height, &slab, &end);
    for (; slab < end; slab++) {
        char *const at = (char *)job->args->dst + slab * x->height * x->n * size;
        copy_rows(scratch, ld, at, cols, rows, cols, size);
        job->kernels->block[job->plan->kind](rows, cols, scratch, ld, at, rows, job->args->alpha,
                                             0);
    }
}

/* Then, or before, the runs change places; each thread takes a slice of every run, whole lines. */
static void transpose_runs(void *data, thread_t me)
{
    const job_t *const job = data;
    const tilemm__transpose_cpu_slabs_t *const x = &job->plan->slabs;
    const int64_t run = x->height * (int64_t)job->args->elem_size, slabs = x->m / x->height;
    const int64_t slices = tilemm__min(me.of, run / 64), skew = -(uintptr_t)job->args->dst % 64;
    const permutation_t map = {
        .which = TRANSPOSE, .by = x->forward ? slabs : x->n, .other = x->forward ? x->n : slabs};
    char *const a = job->args->dst;
    if (me.number >= slices)
        return;
    const int64_t begin = me.number ? me.number * run / slices / 64 * 64 + skew : 0;
    const int64_t end =
        me.number + 1 < slices ? (me.number + 1) * run / slices / 64 * 64 + skew : run;
    permute(a + begin, slabs * x->n, run, (size_t)(end - begin), map,
            (unsigned char *)job->workspace + (size_t)me.number * job->plan->scratch,
            job->plan->scratch);
}

/* The fringe waits in the workspace, transposed, while the other rows are packed. */
static void run_slabs(job_t *job)
{
    const tilemm__transpose_cpu_slabs_t *const x = &job->plan->slabs;
    const int64_t size = (int64_t)job->args->elem_size;
    const int64_t m = x->m, n = x->n, fringe = x->fringe, full = m - fringe;
    const int threads = job->plan->threads;
    tilemm__transpose_block_t *const transpose = job->kernels->block[job->plan->kind];
    const float alpha = job->args->alpha;
    char *const a = job->args->dst;
    char *const kept = job->workspace + (size_t)threads * job->plan->scratch;
    if (x->forward) {
        if (fringe)
            transpose(fringe, n, a + full * n * size, n, kept, fringe, alpha, 0);
        tilemm__run_team(threads, transpose_slabs, job);
        tilemm__run_team(threads, transpose_runs, job);
        if (fringe) {
            move_slots(a, size, full * n, full, full, full, m);
            copy_rows(a + full * size, m, kept, fringe, n, fringe, size);
        }
    } else {
        if (fringe) {
            transpose(n, fringe, a + full * size, m, kept, n, alpha, 0);
            move_slots(a, size, full * n, full, m, full, full);
        }
        tilemm__run_team(threads, transpose_runs, job);
        tilemm__run_team(threads, transpose_slabs, job);
        memcpy(a + full * n * size, kept, (size_t)(fringe * n * size));
    }
}

void tilemm__cpu_run_inplace(job_t *job)
{
    const tilemm__transpose_args_t *const args = job->args;
    const tilemm__transpose_cpu_method_t method = job->plan->method;
    const int threads = job->plan->threads;
    if (method == TILEMM__TRANSPOSE_CPU_SLABS) {
        run_slabs(job);
        return;
    }
    if (method == TILEMM__TRANSPOSE_CPU_SWAP)
        tilemm__run_team(threads, swap_blocks, job);
    else if (method == TILEMM__TRANSPOSE_CPU_C2R)
        tilemm__run_team(threads, run_cycles, job);
    else if (method == TILEMM__TRANSPOSE_CPU_MOVE && job->plan->kind == TILEMM__TRANSPOSE_SCALED)
        tilemm__run_team(threads, tilemm__cpu_copy_blocks, job);
    move_slots(args->dst, (int64_t)args->elem_size, args->rows * args->cols, args->cols,
               args->ld_src, args->trans ? args->rows : args->cols, args->ld_dst);
    if (method == TILEMM__TRANSPOSE_CPU_R2C)
        tilemm__run_team(threads, run_cycles, job);
}
