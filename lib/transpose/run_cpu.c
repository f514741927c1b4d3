/* run_cpu.c - runs transpositions on the CPU: blocks over threads, and what is done in place.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "lib/cpu/cpu.h"
#include "kernels/transpose/cpu/kernels.h"
#include "kernels/transpose/inplace.h"
#include "lib/size.h"
#include "plan_cpu.h"

typedef tilemm__transpose_cpu_t kernels_t;
typedef tilemm__plan_transpose_cpu_t plan_t;

/* What every thread needs to know. */
typedef struct {
    const tilemm__transpose_args_t *args;
    const kernels_t *kernels;
    const plan_t *plan;
    char *workspace; /* plan->scratch bytes for each thread and plan->rest_bytes, or NULL */
} job_t;

static const kernels_t *kernels_for(tilemm__isa_t isa)
{
    switch (isa) {
#ifdef TILEMM_HAVE_AVX512
    case TILEMM__ISA_AMX:
    case TILEMM__ISA_AVX512: return &tilemm__transpose_cpu_avx512;
#endif
#ifdef TILEMM_HAVE_AVX2
    case TILEMM__ISA_AVX2: return &tilemm__transpose_cpu_avx2;
#endif
#ifdef TILEMM_HAVE_NEON
    case TILEMM__ISA_NEON: return &tilemm__transpose_cpu_neon;
#endif
    default: return &tilemm__transpose_cpu_generic;
    }
}

/* A thread of the team that does a job. */
typedef struct {
    int64_t number, of;
} thread_t;

/* This thread's share of so many tasks, as a range. */
static void my_share(thread_t me, int64_t tasks, int64_t *begin, int64_t *end)
{
    const int64_t each = tasks / me.of, more = tasks % me.of;

    *begin = me.number * each + (me.number < more ? me.number : more);
    *end = *begin + each + (me.number < more);
}

/* This thread's scratch: of the workspace, or else what it has on its stack. */
static char *my_scratch(const job_t *job, thread_t me, char *stack, size_t *bytes)
{
    *bytes = job->workspace ? job->plan->scratch : TILEMM__TRANSPOSE_STACK;
    return job->workspace ? job->workspace + (size_t)me.number * job->plan->scratch : stack;
}

static void copy_rows(char *restrict dst, int64_t ld_dst, const char *restrict src, int64_t ld_src,
                      int64_t rows, int64_t cols, int64_t size)
{
    int64_t i;

    for (i = 0; i < rows; i++)
        memcpy(dst + i * ld_dst * size, src + i * ld_src * size, (size_t)(cols * size));
}

/* ---- to another place -------------------------------------------------------------------- */

typedef struct {
    int64_t rows, cols; /* of the source's block */
    const char *src;
    char *dst;
    int hints;
} block_t;

/* Task number `task`: a block of a matrix of the batch. Row blocks follow each other, so that a
 * thread writes along the rows of the result, or column blocks, so that it reads along those of the
 * source. */
static block_t find_block(const job_t *job, int64_t task, int trans)
{
    const plan_t *const plan = job->plan;
    const tilemm__transpose_args_t *const args = job->args;
    const int64_t size = (int64_t)args->elem_size;
    const int64_t row_blocks = tilemm__transpose_row_blocks(plan);
    const int64_t col_blocks = tilemm__transpose_col_blocks(plan);
    const int64_t matrix = task / (row_blocks * col_blocks),
                  of_it = task % (row_blocks * col_blocks);
    const int64_t row_block =
        (plan->along_rows ? of_it / col_blocks : of_it % row_blocks) - (plan->head > 0);
    const int64_t col_block =
        (plan->along_rows ? of_it % col_blocks : of_it / row_blocks) - (plan->head_cols > 0);
    const int64_t i = row_block < 0 ? 0 : plan->head + row_block * plan->block_rows;
    const int64_t j = col_block < 0 ? 0 : plan->head_cols + col_block * plan->block_cols;
    block_t block;

    block.rows = row_block < 0 ? plan->head : tilemm__min(plan->block_rows, plan->rows - i);
    block.cols = col_block < 0 ? plan->head_cols : tilemm__min(plan->block_cols, plan->cols - j);
    block.src = args->src;
    if (block.src)
        block.src += (matrix * args->stride_src + i * plan->ld_src + j) * size;
    block.dst =
        (char *)args->dst +
        (matrix * args->stride_dst + (trans ? j * plan->ld_dst + i : i * plan->ld_dst + j)) * size;
    block.hints = plan->stream && row_block >= 0 ? TILEMM__BLOCK_STREAM : 0;
    return block;
}

/* Ask for a block of the source, which goes to the caches while another one is worked on. Inlined
 * always: a compiler that sees a function without effects leaves out its calls. */
static inline __attribute__((always_inline)) void prefetch_block(const block_t *block, int64_t ld,
                                                                 int64_t size)
{
    int64_t i, at;

    for (i = 0; i < block->rows; i++)
        for (at = 0; at < block->cols * size; at += 64)
            __builtin_prefetch(block->src + i * ld * size + at, 0, 2);
}

static void transpose_blocks(const job_t *job, thread_t me)
{
    const plan_t *const plan = job->plan;
    const int64_t size = (int64_t)job->args->elem_size;
    const int64_t ld = tilemm__transpose_block_ld(plan->block_cols, job->args->elem_size);
    /* 64: vectors read from it are best aligned. */
    char stack[TILEMM__TRANSPOSE_STACK] __attribute__((aligned(64)));
    size_t bytes;
    char *const scratch = my_scratch(job, me, stack, &bytes);
    int64_t task, end;

    my_share(me, tilemm__transpose_tasks(plan), &task, &end);
    for (; task < end; task++) {
        const block_t block = find_block(job, task, 1);

        const int ahead = plan->ahead && task + 1 < end;
        const block_t next = ahead ? find_block(job, task + 1, 1) : block;

        if (plan->buffered) {
            if (ahead)
                prefetch_block(&next, plan->ld_src, size);
            copy_rows(scratch, ld, block.src, plan->ld_src, block.rows, block.cols, size);
            job->kernels->block[plan->kind](block.rows, block.cols, scratch, ld, block.dst,
                                            plan->ld_dst, job->args->alpha,
                                            block.hints | TILEMM__BLOCK_NEAR, NULL);
        } else if (plan->lines) {
            const int64_t scratch_ld =
                tilemm__transpose_block_ld(plan->block_rows, job->args->elem_size);

            job->kernels->block[plan->kind](block.rows, block.cols, block.src, plan->ld_src,
                                            scratch, scratch_ld, job->args->alpha, 0,
                                            ahead ? next.src : NULL);
            job->kernels->stream(block.cols, block.rows * size, scratch, scratch_ld * size,
                                 block.dst, plan->ld_dst * size);
        } else {
            job->kernels->block[plan->kind](block.rows, block.cols, block.src, plan->ld_src,
                                            block.dst, plan->ld_dst, job->args->alpha, block.hints,
                                            ahead ? next.src : NULL);
        }
    }
}

static void copy_blocks(const job_t *job, thread_t me)
{
    const plan_t *const plan = job->plan;
    const int64_t size = (int64_t)job->args->elem_size;
    int64_t task, end, i;

    my_share(me, tilemm__transpose_tasks(plan), &task, &end);
    for (; task < end; task++) {
        const block_t block = find_block(job, task, 0);

        if (plan->method == TILEMM__TRANSPOSE_CPU_FILL)
            for (i = 0; i < block.rows; i++)
                memset(block.dst + i * plan->ld_dst * size, 0, (size_t)(block.cols * size));
        else if (plan->kind == TILEMM__TRANSPOSE_SCALED)
            for (i = 0; i < block.rows; i++)
                job->kernels->scale(
                    block.cols, (const float *)(const void *)(block.src + i * plan->ld_src * size),
                    (float *)(void *)(block.dst + i * plan->ld_dst * size), job->args->alpha);
        else
            copy_rows(block.dst, plan->ld_dst, block.src, plan->ld_src, block.rows, block.cols,
                      size);
    }
}

/* This thread, of the team that it is in. */
static thread_t of_team(void)
{
#ifdef _OPENMP
    return (thread_t){omp_get_thread_num(), omp_get_num_threads()};
#else
    return (thread_t){0, 1};
#endif
}

/* Do each thread's part. To start a team of one takes longer than a small matrix. */
static void on_threads(const job_t *job, void (*part)(const job_t *job, thread_t me))
{
    if (job->plan->threads == 1) {
        part(job, (thread_t){0, 1});
        return;
    }
#pragma omp parallel num_threads(job->plan->threads)
    part(job, of_team());
}

/* ---- in place ---------------------------------------------------------------------------- */

/* Move the slots of one layout to those of another; the order is proved right in inplace.h. */
static void move_slots(char *a, int64_t size, int64_t total, int64_t width_in, int64_t ld_in,
                       int64_t width_out, int64_t ld_out)
{
    int64_t k, run;

    if (tilemm__slots_agree(total, width_in, ld_in, width_out, ld_out))
        return;
    for (k = 0; k < total; k += run) {
        const int64_t from = tilemm__slot(k, width_in, ld_in);
        const int64_t to = tilemm__slot(k, width_out, ld_out);

        run = tilemm__slot_run(k, total, width_in, width_out);
        if (to < from)
            memmove(a + to * size, a + from * size, (size_t)(run * size));
    }
    for (k = total; k > 0; k -= run) {
        int64_t from, to;

        run = tilemm__slot_run_back(k - 1, width_in, width_out);
        from = tilemm__slot(k - run, width_in, ld_in);
        to = tilemm__slot(k - run, width_out, ld_out);
        if (to > from)
            memmove(a + to * size, a + from * size, (size_t)(run * size));
    }
}

/* Two blocks that mirror each other are copied to scratch and transposed back, each to the other's
 * place. Thread t of T takes the block rows t, t + T, ..., which evens out their lengths. */
static void swap_blocks(const job_t *job, thread_t me)
{
    const plan_t *const plan = job->plan;
    const int64_t n = plan->rows, ld = plan->ld_src, side = plan->block_rows;
    const int64_t size = (int64_t)job->args->elem_size;
    const int64_t scratch_ld = tilemm__transpose_block_ld(side, job->args->elem_size);
    const float alpha = job->args->alpha;
    char stack[TILEMM__TRANSPOSE_STACK] __attribute__((aligned(64)));
    size_t bytes;
    char *const one = my_scratch(job, me, stack, &bytes);
    char *const other = one + side * scratch_ld * size;
    char *const a = job->args->dst;
    int64_t i, j;

    for (i = me.number * side; i < n; i += me.of * side)
        for (j = i; j < n; j += side) {
            const int64_t rows = tilemm__min(side, n - i), cols = tilemm__min(side, n - j);
            char *const upper = a + (i * ld + j) * size, *const lower = a + (j * ld + i) * size;

            copy_rows(one, scratch_ld, upper, ld, rows, cols, size);
            if (i != j) {
                copy_rows(other, scratch_ld, lower, ld, cols, rows, size);
                job->kernels->block[plan->kind](cols, rows, other, scratch_ld, upper, ld, alpha,
                                                TILEMM__BLOCK_NEAR, NULL);
            }
            job->kernels->block[plan->kind](rows, cols, one, scratch_ld, lower, ld, alpha,
                                            TILEMM__BLOCK_NEAR, NULL);
        }
}

/* A permutation of the rows of a panel, or of the elements of a row: new(i) = old(source(i)). */
typedef struct {
    enum { ROTATE, ROWS_FORWARD, ROWS_BACKWARD, ROW_FORWARD, ROW_BACKWARD, TURN } which;
    const tilemm__inplace_t *view; /* but for TURN */
    int64_t by;    /* rows rotated by; or the number of the row; TURN: rows of a matrix */
    int64_t other; /* TURN: its columns */
} permutation_t;

static inline int64_t source(const permutation_t *map, int64_t i)
{
    const tilemm__inplace_t *const view = map->view;
    int64_t m;

    if (map->which == TURN)
        return i % map->by * map->other + i / map->by;
    m = view->m;
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

/* A piece is a row of a panel, a run or an element. Whole ones are worth a copy without a call. */
static inline void copy_piece(char *restrict dst, const char *restrict src, size_t bytes)
{
    if (bytes == TILEMM__TRANSPOSE_RUN)
        memcpy(dst, src, TILEMM__TRANSPOSE_RUN);
    else if (bytes == TILEMM__PANEL_BYTES)
        memcpy(dst, src, TILEMM__PANEL_BYTES);
    else
        memcpy(dst, src, bytes);
}

static inline __attribute__((always_inline)) void prefetch_piece(const char *piece, size_t bytes)
{
    size_t at;

    for (at = 0; at < bytes; at += 64)
        __builtin_prefetch(piece + at, 1);
    __builtin_prefetch(piece + bytes - 1, 1);
}

/* Permute `count` pieces, `step` bytes apart, along the cycles of the permutation. Scratch is a
 * bit for each piece, set when it has been dealt with. Where that is too little a cycle belongs to
 * its least piece, which is found by walking the cycle from each, until one less is met. */
static void permute(char *base, int64_t count, int64_t step, size_t piece, permutation_t map,
                    unsigned char *scratch, size_t scratch_bytes)
{
    /* No hardware foresees where a cycle goes: large pieces are asked for so many steps before. */
    enum { AHEAD = 32 };
    unsigned char *const done = (size_t)tilemm__div_up(count, 8) <= scratch_bytes ? scratch : NULL;
    const int far = piece >= 64;
    char saved[TILEMM__TRANSPOSE_RUN];
    int64_t i, at, next, coming;

    if (done)
        memset(done, 0, (size_t)tilemm__div_up(count, 8));
    for (i = 0; i < count; i++) {
        if (done) {
            if (done[i / 8] >> i % 8 & 1)
                continue;
            next = source(&map, i);
        } else {
            next = source(&map, i);
            for (at = next; at > i;)
                at = source(&map, at);
            if (at < i)
                continue;
        }
        if (next == i)
            continue;
        copy_piece(saved, base + i * step, piece);
        coming = next;
        for (at = 0; far && at < AHEAD; at++)
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

/* Steps 1 and 3 of the permutation (inplace.h) on the panels of adjacent columns that are this
 * thread's. Within a panel the columns' rotations differ by little: a common rotation joins the
 * permutation of rows, and a skew does what is left. */
static void panels(const job_t *job, thread_t me, const tilemm__inplace_t *view, char *base,
                   int64_t ld, int step_number, int backward)
{
    const int64_t size = (int64_t)job->args->elem_size, width = job->plan->block_cols;
    const int64_t m = view->m, n = view->n;
    char stack[TILEMM__TRANSPOSE_STACK] __attribute__((aligned(64)));
    size_t bytes;
    unsigned char *const scratch = (unsigned char *)my_scratch(job, me, stack, &bytes);
    int kind = 0;
    int64_t panel, end, x;

    while (1 << kind < size)
        kind++;
    my_share(me, tilemm__div_up(n, width), &panel, &end);
    for (; panel < end; panel++) {
        const int64_t j = panel * width, cols = tilemm__min(width, n - j);
        char *const top = base + j * size, *const bottom = top + (m - 1) * ld * size;
        const int64_t rotation = tilemm__inplace_rotation(view, j);
        const int skewed =
            step_number == 3 ? cols > 1 : tilemm__inplace_rotation(view, j + cols - 1) != rotation;
        int shift[TILEMM__PANEL_COLS];
        permutation_t map;

        map.view = view;
        map.other = 0;
        if (step_number == 3) {
            map.which = backward ? ROWS_BACKWARD : ROWS_FORWARD;
            map.by = j % m;
        } else {
            map.which = ROTATE;
            map.by = backward && rotation ? m - rotation : rotation;
        }
        for (x = 0; x < cols; x++)
            shift[x] =
                (int)(step_number == 3 ? x : tilemm__inplace_rotation(view, j + x) - rotation);
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
            permutation_t map;

            map.which = backward ? ROW_BACKWARD : ROW_FORWARD;
            map.view = view;
            map.other = 0;
            map.by = i;
            permute(row, n, size, (size_t)size, map, (unsigned char *)scratch, bytes);
            if (job->plan->kind == TILEMM__TRANSPOSE_SCALED)
                job->kernels->scale(n, (const float *)(const void *)row, (float *)(void *)row,
                                    job->args->alpha);
        }
    }
}

static void rectangle(const job_t *job, int backward)
{
    const plan_t *const plan = job->plan;
    const int64_t ld = backward ? plan->ld_dst : plan->ld_src;
    char *const a = job->args->dst;
    tilemm__inplace_t view;

    tilemm__inplace_init(&view, backward ? plan->cols : plan->rows,
                         backward ? plan->rows : plan->cols);
#ifdef _OPENMP
#pragma omp parallel num_threads(plan->threads)
#endif
    {
        const thread_t me = of_team();

        panels(job, me, &view, a, ld, backward ? 3 : 1, backward);
#ifdef _OPENMP
#pragma omp barrier
#endif
        shuffle_rows(job, me, &view, a, ld, backward);
#ifdef _OPENMP
#pragma omp barrier
#endif
        panels(job, me, &view, a, ld, backward ? 1 : 3, backward);
    }
}

/* Panels of a matrix (plan_transpose_cpu.h): each of this thread's is transposed where it lies. */
static void turn_panels(const job_t *job, thread_t me)
{
    const plan_t *const plan = job->plan;
    const int64_t size = (int64_t)job->args->elem_size;
    const int64_t height = plan->block_rows, n = plan->block_cols;
    const int forward = tilemm__inplace_forward(plan->rows, plan->cols);
    const int64_t rows = forward ? height : n, cols = forward ? n : height;
    const int64_t ld = forward ? tilemm__transpose_block_ld(n, job->args->elem_size) : height;
    char *const scratch = job->workspace + (size_t)me.number * plan->scratch;
    int64_t panel, end;

    my_share(me, (forward ? plan->rows : plan->cols) / height, &panel, &end);
    for (; panel < end; panel++) {
        char *const at = (char *)job->args->dst + panel * height * n * size;

        copy_rows(scratch, ld, at, cols, rows, cols, size);
        job->kernels->block[plan->kind](rows, cols, scratch, ld, at, rows, job->args->alpha, 0,
                                        NULL);
    }
}

/* Then, or before, the runs change places; each thread takes a slice of every run, from line to
 * line. */
static void turn_runs(const job_t *job, thread_t me)
{
    const plan_t *const plan = job->plan;
    const int64_t run = plan->block_rows * (int64_t)job->args->elem_size, n = plan->block_cols;
    const int forward = tilemm__inplace_forward(plan->rows, plan->cols);
    const int64_t panels = (forward ? plan->rows : plan->cols) / plan->block_rows;
    const int64_t slices = tilemm__min(me.of, run / 64), skew = -(uintptr_t)job->args->dst % 64;
    char *const a = job->args->dst;
    permutation_t map;
    int64_t begin, end;

    if (me.number >= slices)
        return;
    begin = me.number ? me.number * run / slices / 64 * 64 + skew : 0;
    end = me.number + 1 < slices ? (me.number + 1) * run / slices / 64 * 64 + skew : run;
    map.which = TURN;
    map.view = NULL;
    map.by = forward ? panels : n;
    map.other = forward ? n : panels;
    permute(a + begin, panels * n, run, (size_t)(end - begin), map,
            (unsigned char *)job->workspace + (size_t)me.number * plan->scratch, plan->scratch);
}

/* Rows of the view that fill no panel wait in the workspace, as they will be in the end, while the
 * others are packed. */
static void two_passes(const job_t *job)
{
    const plan_t *const plan = job->plan;
    const int64_t size = (int64_t)job->args->elem_size, n = plan->block_cols;
    const int64_t rest = plan->rest;
    char *const a = job->args->dst;
    char *const kept = job->workspace + (size_t)plan->threads * plan->scratch;

    if (tilemm__inplace_forward(plan->rows, plan->cols)) {
        const int64_t m = plan->rows, full = m - rest;

        if (rest)
            job->kernels->block[plan->kind](rest, n, a + full * n * size, n, kept, rest,
                                            job->args->alpha, 0, NULL);
        on_threads(job, turn_panels);
        on_threads(job, turn_runs);
        if (rest) {
            move_slots(a, size, full * n, full, full, full, m);
            copy_rows(a + full * size, m, kept, rest, n, rest, size);
        }
    } else {
        const int64_t m = plan->cols, full = m - rest;

        if (rest) {
            job->kernels->block[plan->kind](n, rest, a + full * size, m, kept, n, job->args->alpha,
                                            0, NULL);
            move_slots(a, size, full * n, full, m, full, full);
        }
        on_threads(job, turn_runs);
        on_threads(job, turn_panels);
        memcpy(a + full * n * size, kept, (size_t)(rest * n * size));
    }
}

/* ---- the backend's functions ------------------------------------------------------------- */

/* Append to a text that has room. */
static char *put(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    *to = '\0';
    return to;
}

static char *put_number(char *to, int number)
{
    char digits[2] = {(char)('0' + number % 10), '\0'};

    if (number >= 10)
        to = put_number(to, number / 10);
    return put(to, digits);
}

/* "transpose_simd_avx512_16x4x4": to print it takes as long as to transpose 64 x 64 floats. */
static void set_name(tilemm_t ctx, const plan_t *plan, int size)
{
    char *to = put(ctx->kernel_text, "transpose_");

    to = put(put(to, tilemm__transpose_method_name(plan->method)), "_");
    to = put(put(to, tilemm__isa_name(tilemm__cpu_traits(ctx)->isa)), "_");
    to = put(put_number(to, plan->tile_rows), "x");
    to = put(put_number(to, plan->tile_cols), "x");
    put_number(to, size);
    tilemm__set_kernel_name(ctx, ctx->kernel_text);
}

/* The same for a small matrix: even to put the text together takes too long. */
static const char *small_name(tilemm__isa_t isa, int kind)
{
#define NAME(isa, tile) "transpose_simd_" isa "_" tile
#define NAMES(isa, one, two, four, eight, sixteen)                                                 \
    {                                                                                              \
        NAME(isa, one), NAME(isa, two), NAME(isa, four), NAME(isa, eight), NAME(isa, sixteen),     \
            NAME(isa, four)                                                                        \
    }
    static const char *const names[][TILEMM__TRANSPOSE_KINDS] = {
        NAMES("generic", "16x16x1", "8x8x2", "4x4x4", "2x2x8", "1x1x16"),
        NAMES("neon", "16x16x1", "8x8x2", "4x4x4", "2x2x8", "1x1x16"),
        NAMES("avx2", "32x16x1", "16x8x2", "8x4x4", "4x2x8", "2x1x16"),
        NAMES("avx512", "64x16x1", "32x8x2", "16x4x4", "8x2x8", "4x1x16"),
        NAMES("amx", "64x16x1", "32x8x2", "16x4x4", "8x2x8", "4x1x16")};
#undef NAMES
#undef NAME
    _Static_assert(TILEMM__ISA_GENERIC == 0 && TILEMM__ISA_NEON == 1 && TILEMM__ISA_AVX2 == 2 &&
                       TILEMM__ISA_AVX512 == 3 && TILEMM__ISA_AMX == 4,
                   "names are in this order");
    return names[isa][kind];
}

static tilemm_status_t run(tilemm_t ctx, const tilemm__transpose_args_t *args, int in_place)
{
    const tilemm__cpu_traits_t *const traits = tilemm__cpu_traits(ctx);
    const int64_t size = (int64_t)args->elem_size, total = args->rows * args->cols;
    const int64_t width_out = args->trans ? args->rows : args->cols;
    const int threads = tilemm__cpu_threads(ctx);
    plan_t plan;
    job_t job;

    job.args = args;
    job.kernels = kernels_for(traits->isa);
    job.plan = &plan;
    job.workspace = NULL;
    tilemm__plan_transpose_cpu(args, in_place, traits, threads, SIZE_MAX, &plan);
    if (plan.scratch) {
        size_t got;

        job.workspace =
            tilemm__cpu_workspace(ctx, (size_t)plan.threads * plan.scratch + plan.rest_bytes, &got);
        tilemm__plan_transpose_cpu(args, in_place, traits, threads, got, &plan);
        if (!plan.scratch)
            job.workspace = NULL;
    }
    set_name(ctx, &plan, (int)size);

    switch (plan.method) {
    case TILEMM__TRANSPOSE_CPU_FILL:
    case TILEMM__TRANSPOSE_CPU_COPY: on_threads(&job, copy_blocks); break;
    case TILEMM__TRANSPOSE_CPU_SIMD: on_threads(&job, transpose_blocks); break;
    case TILEMM__TRANSPOSE_CPU_MOVE:
        if (plan.kind == TILEMM__TRANSPOSE_SCALED)
            on_threads(&job, copy_blocks);
        move_slots(args->dst, size, total, args->cols, args->ld_src, width_out, args->ld_dst);
        break;
    case TILEMM__TRANSPOSE_CPU_SWAP:
        on_threads(&job, swap_blocks);
        move_slots(args->dst, size, total, args->cols, args->ld_src, width_out, args->ld_dst);
        break;
    case TILEMM__TRANSPOSE_CPU_PANELS: two_passes(&job); break;
    case TILEMM__TRANSPOSE_CPU_C2R:
        rectangle(&job, 0);
        move_slots(args->dst, size, total, args->cols, args->ld_src, width_out, args->ld_dst);
        break;
    case TILEMM__TRANSPOSE_CPU_R2C:
        move_slots(args->dst, size, total, args->cols, args->ld_src, width_out, args->ld_dst);
        rectangle(&job, 1);
        break;
    }
    return TILEMM_SUCCESS;
}

/* One block, of which a plan would say no more. */
int tilemm__cpu_transpose_small(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    enum { MOST = 65536 }; /* bytes: no work for two threads, and near enough to need no copy */
    const tilemm__isa_t isa = tilemm__cpu_traits(ctx)->isa;
    const int kind = tilemm__transpose_kind(args);

    if (args->rows == 1 || args->cols == 1 ||
        args->rows * args->cols * (int64_t)args->elem_size > MOST ||
        tilemm__cpu_may_have_device(ctx))
        return 0;
    kernels_for(isa)->block[kind](args->rows, args->cols, args->src, args->ld_src, args->dst,
                                  args->ld_dst, args->alpha, 0, NULL);
    tilemm__set_kernel_name(ctx, small_name(isa, kind));
    return 1;
}

tilemm_status_t tilemm__cpu_transpose(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    return run(ctx, args, 0);
}

tilemm_status_t tilemm__cpu_transpose_inplace(tilemm_t ctx, const tilemm__transpose_args_t *args)
{
    return run(ctx, args, 1);
}
